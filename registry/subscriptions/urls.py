from django.urls import path

from registry.subscriptions.api import Bundling, SubscriptionDetail, Subscriptions

team_urlpatterns = [
    path("subscriptions", Subscriptions.as_view(), name="api-subscriptions"),
    path("subscriptions/<str:name>", SubscriptionDetail.as_view(), name="api-subscription"),
]

skill_urlpatterns = [
    path("bundling", Bundling.as_view(), name="api-bundling"),
]
