from django.urls import path

from worker.quotas.api import TeamUses

team_urlpatterns = [
    path("limits", TeamUses.as_view(), name="api-team-limits"),
]
