from django.urls import path

from portal.pages.notifications import views

urlpatterns = [
    path("notifications/", views.inbox_page, name="notifications"),
    path("notifications/read/", views.read_all, name="notifications-read"),
    path("notifications/<str:uid>/", views.open_notification, name="notification"),
]
