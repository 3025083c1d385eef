from django.urls import path

from portal.pages.usage import views

skill_urlpatterns = [
    path("usage/", views.page, name="skill-usage"),
]
