from django.urls import path

from worker.dependencies.api import DependenciesCancel, VersionDependencies, VersionRuntime

version_urlpatterns = [
    path("dependencies", VersionDependencies.as_view(), name="api-dependencies"),
    path("dependencies/cancel", DependenciesCancel.as_view(), name="api-dependencies-cancel"),
    path("runtime", VersionRuntime.as_view(), name="api-version-runtime"),
]
