from django.urls import path

from worker.dependencies.api import VersionDependencies, VersionRuntime

version_urlpatterns = [
    path("dependencies", VersionDependencies.as_view(), name="api-dependencies"),
    path("runtime", VersionRuntime.as_view(), name="api-version-runtime"),
]
