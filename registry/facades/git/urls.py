from django.urls import URLPattern, URLResolver, include, path

from registry.facades.git.views import Marketplaces, ReceivePack, References, UploadPack

_SERVICES: list[URLPattern] = [
    path("info/refs", References.as_view(), name="git-refs"),
    path("git-upload-pack", UploadPack.as_view(), name="git-upload-pack"),
    path("git-receive-pack", ReceivePack.as_view(), name="git-receive-pack"),
]
_SCOPES = (
    "all.git/",
    "<slug:team>/all.git/",
    "<slug:team>/<slug:slug>.git/",
    "<slug:team>/<slug:slug>.plugin.git/",
)

urlpatterns: list[URLPattern | URLResolver] = [
    *(
        path(scope, include(_SERVICES), {"as_plugin": True} if ".plugin" in scope else None)
        for scope in _SCOPES
    ),
    path("marketplace.json", Marketplaces.as_view(), name="marketplace"),
    path("<slug:team>/marketplace.json", Marketplaces.as_view(), name="team-marketplace"),
]
