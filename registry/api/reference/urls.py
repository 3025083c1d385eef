from django.urls import path

from registry.api.reference.site import CodeDetail, Codes, Me

urlpatterns = [
    path("me", Me.as_view(), name="api-me"),
    path("errors", Codes.as_view(), name="api-codes"),
    path("errors/<str:code>", CodeDetail.as_view(), name="api-code"),
]
