from django.urls import path

from registry.usage.api import UnknownActivations

team_urlpatterns = [
    path("unknown-activations", UnknownActivations.as_view(), name="api-unknown-activations"),
]
