from django.urls import path

from worker.sharing.api import ShareLinkDetail, ShareLinks

urlpatterns = [
    path("runs/<str:uid>/share-links", ShareLinks.as_view(), name="api-share-links"),
    path("runs/<str:uid>/share-links/<str:other>", ShareLinkDetail.as_view(), name="api-share-link"),
]
