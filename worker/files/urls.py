from django.urls import path

from worker.files.api import InputDetail, Inputs

urlpatterns = [
    path("inputs", Inputs.as_view(), name="api-inputs"),
    path("inputs/<str:uid>", InputDetail.as_view(), name="api-input"),
]
