from django.urls import path

from worker.retention import api

urlpatterns = [
    path("retention", api.SiteRetention.as_view(), name="api-retention"),
    path("retention/preview", api.SiteRetentionPreview.as_view(), name="api-retention-preview"),
]
team_urlpatterns = [
    path("retention", api.TeamRetention.as_view(), name="api-team-retention"),
    path("retention/preview", api.TeamRetentionPreview.as_view(), name="api-team-retention-preview"),
]
