from django.urls import path

from worker.cases.api import VersionCases

version_urlpatterns = [path("cases", VersionCases.as_view(), name="api-version-cases")]
