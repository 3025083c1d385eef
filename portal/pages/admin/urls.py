from django.urls import path

from portal.pages.admin import sandbox_views, status_views

urlpatterns = [
    path("site/", status_views.page, name="site-status"),
    path("site/sandbox/", sandbox_views.page, name="sandbox"),
]
