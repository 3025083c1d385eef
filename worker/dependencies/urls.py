from django.urls import path

from worker.dependencies.api import VersionDependencies

version_urlpatterns = [
    path("dependencies", VersionDependencies.as_view(), name="api-dependencies"),
]
