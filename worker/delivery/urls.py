from django.urls import path

from worker.delivery.api.inbox import NotificationDetail, Notifications, ReadNotifications

urlpatterns = [
    path("notifications", Notifications.as_view(), name="api-notifications"),
    path("notifications/read", ReadNotifications.as_view(), name="api-notifications-read"),
    path("notifications/<str:uid>", NotificationDetail.as_view(), name="api-notification"),
]
