from django.urls import path

from portal.pages.notifications import subscription_views, views

urlpatterns = [
    path("notifications/", views.inbox_page, name="notifications"),
    path("notifications/read/", views.read_all, name="notifications-read"),
    path("notifications/settings/", subscription_views.settings, name="notification-settings"),
    path("notifications/settings/<str:uid>/", subscription_views.edit, name="notification-edit"),
    path("notifications/settings/<str:uid>/mute/", subscription_views.mute, name="notification-mute"),
    path("notifications/settings/<str:uid>/remove/", subscription_views.remove, name="notification-remove"),
    path("notifications/settings/<str:uid>/test/", subscription_views.test, name="notification-test"),
    path("notifications/deliveries/", subscription_views.deliveries, name="deliveries"),
    path("notifications/deliveries/<str:uid>/retry/", subscription_views.retry, name="delivery-retry"),
    path("notifications/deliveries/<str:uid>/replay/", subscription_views.replay, name="delivery-replay"),
    path("notifications/<str:uid>/", views.open_notification, name="notification"),
]

team_urlpatterns = [
    path("notifications/", subscription_views.team_settings, name="team-notifications"),
]
