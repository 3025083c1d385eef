from django.urls import path

from worker.failures.api import ErrorGroupDetail, ErrorGroups

urlpatterns = [
    path("error-groups", ErrorGroups.as_view(), name="api-error-groups"),
    path("error-groups/<str:uid>", ErrorGroupDetail.as_view(), name="api-error-group"),
]
