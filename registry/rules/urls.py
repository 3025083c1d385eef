from django.urls import path

from registry.rules.api import PermissionDecision, Restoration, RuleDetail, TeamRules, TokenRules

urlpatterns = [
    path("permissions/check", PermissionDecision.as_view(), name="api-decision"),
    path("tokens/<str:uid>/rules", TokenRules.as_view(), name="api-token-rules"),
    path("rules/<str:uid>", RuleDetail.as_view(), name="api-rule"),
    path("rules/<str:uid>/restore", Restoration.as_view(), name="api-rule-restoration"),
]

team_urlpatterns = [
    path("rules", TeamRules.as_view(), name="api-team-rules"),
]
