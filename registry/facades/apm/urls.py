from django.urls import path

from registry.facades.apm import views

_PACKAGE = "apm/v1/packages/<str:team>/<str:slug>"

urlpatterns = [
    path(f"{_PACKAGE}/versions", views.ApmVersions.as_view(), name="apm-versions"),
    path(f"{_PACKAGE}/versions/<str:number>", views.ApmVersion.as_view(), name="apm-version"),
    path(f"{_PACKAGE}/versions/<str:number>/download", views.ApmDownload.as_view(), name="apm-download"),
    path("apm/<path:path>", views.ApmUnknown.as_view(), name="apm-unknown"),
]
