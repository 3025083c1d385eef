from django.urls import path

from portal.pages.events import views, webhook_views

urlpatterns = [
    path("events/", views.listing, name="events"),
    path("events/subscriptions/", views.subscriptions, name="event-subscriptions"),
    path("events/subscriptions/<str:uid>/remove/", views.unsubscribe, name="event-unsubscribe"),
    path("events/webhooks/", webhook_views.page, name="webhooks"),
    path("events/webhooks/<str:uid>/rotate/", webhook_views.rotate, name="webhook-rotate"),
    path("events/webhooks/<str:uid>/remove/", webhook_views.remove, name="webhook-remove"),
    path("events/<str:uid>/", views.page, name="event"),
    path("events/<str:uid>/start/", views.start, name="event-start"),
]
