"""Routes of the well-known index, below the site's root and the addresses in ``_SCOPES``."""

from django.urls import URLPattern, URLResolver, include, path

from registry.facades.well_known.views import FileIndex, Index, IndexedArchive, IndexedFile, SkillSearch

_INDEX = [
    path("agent-skills/index.json", Index.as_view(), name="agent-skills-index"),
    path("agent-skills/<str:name>.zip", IndexedArchive.as_view(), name="agent-skills-archive"),
    path("agent-skills/<str:name>/<path:path>", IndexedFile.as_view(), name="agent-skills-file"),
    path("skills/index.json", FileIndex.as_view(), name="skills-index"),
    path("skills/<str:name>/<path:path>", IndexedFile.as_view(), name="skills-file"),
]
_SCOPES = (
    "",
    "teams/<slug:team>/",
    "canonical/<slug:slug>/",
    "collections/<slug:team>/<slug:collection>/",
    "skills/<slug:team>/<str:slug>/",
    "skills/<slug:team>/<str:slug>/<str:number>/",
    "api/v1/skills/<str:team>/<str:slug>/versions/<str:number>/archive/",
    # Short addresses come last: their first part matches any word.
    "<slug:team>/",
    "<slug:team>/<str:slug>/",
    "<slug:team>/<str:slug>/<str:number>/",
)

urlpatterns: list[URLPattern | URLResolver] = [
    *(path(f"{scope}.well-known/", include(_INDEX)) for scope in _SCOPES),
    path("api/search", SkillSearch.as_view(), name="skills-search"),
]
