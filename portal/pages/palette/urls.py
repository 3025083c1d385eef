from django.urls import path

from portal.pages.palette import views

urlpatterns = [
    path("find/", views.page, name="palette"),
]
