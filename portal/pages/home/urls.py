from django.urls import path

from portal.pages.home import views

urlpatterns = [
    path("", views.page, name="home"),
]

skill_urlpatterns = [
    path("pin/", views.change_pin, name="skill-pin"),
]
