from django.urls import path

from registry.imports.api.imports import (
    ImportCancel,
    ImportDetail,
    Imports,
    SourceDetail,
    SourceDrift,
    SourceImports,
    Sources,
)

urlpatterns = [
    path("imports", Imports.as_view(), name="api-imports"),
    path("imports/<str:uid>", ImportDetail.as_view(), name="api-import"),
    path("imports/<str:uid>/cancel", ImportCancel.as_view(), name="api-import-cancel"),
    path("sources", Sources.as_view(), name="api-sources"),
    path("sources/<str:uid>", SourceDetail.as_view(), name="api-source"),
    path("sources/<str:uid>/drift", SourceDrift.as_view(), name="api-source-drift"),
    path("sources/<str:uid>/imports", SourceImports.as_view(), name="api-source-imports"),
]
