from django.urls import path

from registry.facades.openai import views

_API = "openai/v1/skills"

urlpatterns = [
    path(_API, views.OpenAISkills.as_view(), name="openai-skills"),
    path(f"{_API}/<str:uid>", views.OpenAISkill.as_view(), name="openai-skill"),
    path(f"{_API}/<str:uid>/content", views.OpenAIContent.as_view(), name="openai-skill-content"),
    path(f"{_API}/<str:uid>/versions", views.OpenAIVersions.as_view(), name="openai-versions"),
    path(f"{_API}/<str:uid>/versions/<str:number>", views.OpenAIVersion.as_view(), name="openai-version"),
    path(
        f"{_API}/<str:uid>/versions/<str:number>/content",
        views.OpenAIContent.as_view(),
        name="openai-content",
    ),
    path("openai/<path:path>", views.OpenAIUnknown.as_view(), name="openai-unknown"),
]
