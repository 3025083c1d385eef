from django.urls import path

from portal.pages.styleguide import views

urlpatterns = [
    path("styleguide/", views.page, name="styleguide"),
]
