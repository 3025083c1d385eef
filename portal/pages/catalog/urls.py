from django.urls import path

from portal.pages.catalog import views

urlpatterns = [
    path("skills/", views.page, name="catalog"),
]
