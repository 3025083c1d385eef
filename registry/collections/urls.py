"""API routes of collections."""

from django.urls import path

from registry.collections.api import CollectionDetail, CollectionPrompt, Collections

urlpatterns = [
    path("collections", Collections.as_view(), name="api-collections"),
    path("collections/<str:team>/<str:collection>", CollectionDetail.as_view(), name="api-collection"),
    path(
        "collections/<str:team>/<str:collection>/prompt",
        CollectionPrompt.as_view(),
        name="api-collection-prompt",
    ),
]
