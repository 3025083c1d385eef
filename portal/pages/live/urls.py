from django.urls import path

from portal.pages.live import views

urlpatterns = [
    path("live/", views.counts, name="live"),
    path("live/events/", views.viewer, name="live-events"),
]
