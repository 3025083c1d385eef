"""Route of the sandbox page."""

from django.urls import path

from portal.pages.admin import sandbox_views

urlpatterns = [
    path("site/sandbox/", sandbox_views.page, name="sandbox"),
]
