from django.urls import path

from worker.delivery.api.deliveries import Deliveries, DeliveryDetail, DeliveryReplay, DeliveryRetry
from worker.delivery.api.inbox import NotificationDetail, Notifications, ReadNotifications
from worker.delivery.api.subscriptions import (
    NotificationSubscriptionDetail,
    NotificationSubscriptions,
    SubscriptionTest,
)

urlpatterns = [
    path("notifications", Notifications.as_view(), name="api-notifications"),
    path("notifications/read", ReadNotifications.as_view(), name="api-notifications-read"),
    path("notifications/<str:uid>", NotificationDetail.as_view(), name="api-notification"),
    path("subscriptions", NotificationSubscriptions.as_view(), name="api-notification-subscriptions"),
    path(
        "subscriptions/<str:uid>",
        NotificationSubscriptionDetail.as_view(),
        name="api-notification-subscription",
    ),
    path("subscriptions/<str:uid>/test", SubscriptionTest.as_view(), name="api-notification-test"),
    path("deliveries", Deliveries.as_view(), name="api-deliveries"),
    path("deliveries/<str:uid>", DeliveryDetail.as_view(), name="api-delivery"),
    path("deliveries/<str:uid>/retry", DeliveryRetry.as_view(), name="api-delivery-retry"),
    path("deliveries/<str:uid>/replay", DeliveryReplay.as_view(), name="api-delivery-replay"),
]
