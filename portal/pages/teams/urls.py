"""Routes of teams, their members and limits."""

from django.urls import path

from portal.pages.teams import limit_views, views

urlpatterns = [
    path("teams/", views.listing, name="teams"),
    path("teams/new/", views.new, name="team-new"),
]

team_urlpatterns = [
    path("", views.page, name="team"),
    path("settings/", views.settings, name="team-settings"),
    path("limits/", limit_views.page, name="team-limits"),
    path("members/", views.add, name="member-add"),
    path("members/<str:uid>/role/", views.role, name="member-role"),
    path("members/<str:uid>/remove/", views.remove, name="member-remove"),
]
