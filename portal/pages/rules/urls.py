from django.urls import path

from portal.pages.rules import views

urlpatterns = [
    path("account/tokens/<str:uid>/rules/", views.token_rules, name="token-rules"),
    path("rules/<str:uid>/remove/", views.remove, name="rule-remove"),
    path("rules/<str:uid>/restore/", views.restore, name="rule-restore"),
]

team_urlpatterns = [
    path("rules/", views.team_rules, name="team-rules"),
]

skill_urlpatterns = [
    path("allow/", views.allow, name="skill-allow"),
]
