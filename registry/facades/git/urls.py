from django.urls import URLPattern, URLResolver, include, path

from registry.facades.git.views import Marketplaces, ReceivePack, References, UploadPack

_SERVICES: list[URLPattern] = [
    path("info/refs", References.as_view(), name="git-refs"),
    path("git-upload-pack", UploadPack.as_view(), name="git-upload-pack"),
    path("git-receive-pack", ReceivePack.as_view(), name="git-receive-pack"),
]
_SCOPES: dict[str, dict[str, bool]] = {
    "all.git/": {},
    "all.private.git/": {"needs_token": True},
    "collections/<slug:team>/<slug:collection>.git/": {},
    "collections/<slug:team>/<slug:collection>.private.git/": {"needs_token": True},
    "<slug:team>/all.git/": {},
    "<slug:team>/all.private.git/": {"needs_token": True},
    "<slug:team>/<slug:slug>.git/": {},
    "<slug:team>/<slug:slug>.plugin.git/": {"as_plugin": True},
}

urlpatterns: list[URLPattern | URLResolver] = [
    *(path(scope, include(_SERVICES), options) for scope, options in _SCOPES.items()),
    path("marketplace.json", Marketplaces.as_view(), name="marketplace"),
    path(
        "collections/<slug:team>/<slug:collection>/marketplace.json",
        Marketplaces.as_view(),
        name="collection-marketplace",
    ),
    path("<slug:team>/marketplace.json", Marketplaces.as_view(), name="team-marketplace"),
]
