from django.urls import path

from portal.pages.secrets import views

team_urlpatterns = [
    path("secrets/", views.page, name="team-secrets"),
    path("secrets/remove/", views.remove, name="secret-remove"),
    path("secrets/grant/", views.grant, name="secret-grant"),
    path("secrets/review/", views.review, name="secret-review"),
    path("secrets/<str:uid>/revoke/", views.revoke, name="secret-revoke"),
]
