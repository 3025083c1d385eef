from django.urls import path

from registry.uploads.api import UploadDetail, Uploads

urlpatterns = [
    path("uploads", Uploads.as_view(), name="api-uploads"),
    path("uploads/<str:uid>", UploadDetail.as_view(), name="api-upload"),
]
