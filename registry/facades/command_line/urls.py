from django.urls import path

from registry.facades.command_line.views import CommandLineClient

urlpatterns = [path("skillquay.py", CommandLineClient.as_view(), name="command-line-client")]
