"""API routes of install links."""

from django.urls import path

from registry.install_links.api import InstallLinkDetail, InstallLinks

urlpatterns = [
    path("install-links", InstallLinks.as_view(), name="api-install-links"),
    path("install-links/<str:uid>", InstallLinkDetail.as_view(), name="api-install-link"),
]
