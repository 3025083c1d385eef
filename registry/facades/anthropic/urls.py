from django.urls import path

from registry.facades.anthropic import views

_API = "anthropic/v1/skills"

urlpatterns = [
    path(_API, views.AnthropicSkills.as_view(), name="anthropic-skills"),
    path(f"{_API}/<str:uid>", views.AnthropicSkill.as_view(), name="anthropic-skill"),
    path(f"{_API}/<str:uid>/versions", views.AnthropicVersions.as_view(), name="anthropic-versions"),
    path(
        f"{_API}/<str:uid>/versions/<str:number>",
        views.AnthropicVersion.as_view(),
        name="anthropic-version",
    ),
    path(
        f"{_API}/<str:uid>/versions/<str:number>/content",
        views.AnthropicContent.as_view(),
        name="anthropic-content",
    ),
    path("anthropic/<path:path>", views.AnthropicUnknown.as_view(), name="anthropic-unknown"),
]
