from django.urls import path

from registry.erasure.api import MyErasure, MyExport

urlpatterns = [
    path("me/export", MyExport.as_view(), name="api-my-export"),
    path("me/erase", MyErasure.as_view(), name="api-my-erasure"),
]
