from django.urls import path

from registry.events.api import events
from registry.events.api.webhooks import WebhookDetail, WebhookRotation, Webhooks

urlpatterns = [
    path("events", events.Events.as_view(), name="api-events"),
    path("events/<str:uid>", events.EventDetail.as_view(), name="api-event"),
    path("events/<str:uid>/start", events.EventStarts.as_view(), name="api-event-start"),
    path("event-subscriptions", events.EventSubscriptions.as_view(), name="api-event-subscriptions"),
    path(
        "event-subscriptions/<str:uid>",
        events.EventSubscriptionDetail.as_view(),
        name="api-event-subscription",
    ),
    path("webhooks", Webhooks.as_view(), name="api-webhooks"),
    path("webhooks/<str:uid>", WebhookDetail.as_view(), name="api-webhook"),
    path("webhooks/<str:uid>/rotate", WebhookRotation.as_view(), name="api-webhook-rotate"),
]
