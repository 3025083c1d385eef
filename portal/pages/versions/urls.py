from django.urls import path

from portal.pages.versions import change_views, views

skill_urlpatterns = [
    path("versions/", views.listing, name="versions"),
    path("diff/<str:before>..<str:after>/", views.diff, name="version-diff"),
]

version_urlpatterns = [
    *(
        path(f"{verb}/", change_views.change, {"verb": verb}, name=f"version-{verb}")
        for verb in change_views.VERBS
    ),
    path("purge/", change_views.purge, name="version-purge"),
]
