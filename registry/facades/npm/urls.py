from django.urls import path

from registry.facades.npm.views import Advisories, NpmSearch, Packument, Ping, Tarball, Whoami

urlpatterns = [
    path("npm/-/ping", Ping.as_view(), name="npm-ping"),
    path("npm/-/whoami", Whoami.as_view(), name="npm-whoami"),
    path("npm/-/v1/search", NpmSearch.as_view(), name="npm-search"),
    path("npm/-/npm/v1/security/advisories/bulk", Advisories.as_view(), name="npm-advisories"),
    path("npm/@<slug:team>/<slug:slug>", Packument.as_view(), name="npm-package"),
    path("npm/@<slug:team>/<slug:slug>/-/<str:path>", Tarball.as_view(), name="npm-tarball"),
]
