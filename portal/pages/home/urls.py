"""Route of the home page."""

from django.urls import path

from portal.pages.home import views

urlpatterns = [
    path("", views.page, name="home"),
]
