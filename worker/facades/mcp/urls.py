from django.urls import path

from worker.facades.mcp.views import Mcp

urlpatterns = [path("mcp", Mcp.as_view(), name="mcp")]
