from django.urls import path

from portal.pages.listing import views

urlpatterns = [
    path("skills/listing/", views.page, name="listing"),
    path("skills/listing/bundle/", views.bundle, name="bundle"),
]

team_urlpatterns = [
    path("subscriptions/", views.subscribe, name="subscribe"),
]
