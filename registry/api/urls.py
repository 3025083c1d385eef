"""Routes of the registry's API, collected from the packages."""

from django.urls import URLPattern, URLResolver, include, path

from registry.accounts import urls as accounts
from registry.api.reference import urls as reference
from registry.canonical import urls as canonical
from registry.collections import urls as collections
from registry.documentation import urls as documentation
from registry.erasure import urls as erasure
from registry.events import urls as events
from registry.imports import urls as imports
from registry.install_links import urls as install_links
from registry.listing import urls as listing
from registry.matching import urls as matching
from registry.review import urls as review
from registry.rules import urls as rules
from registry.search import urls as search
from registry.secrets import urls as secrets
from registry.subscriptions import urls as subscriptions
from registry.trigger_tests import urls as trigger_tests
from registry.uploads import urls as uploads
from registry.usage import urls as usage
from registry.versions import urls as versions

urlpatterns: list[URLPattern | URLResolver] = [
    *reference.urlpatterns,
    *accounts.urlpatterns,
    *canonical.urlpatterns,
    *collections.urlpatterns,
    *documentation.urlpatterns,
    *erasure.urlpatterns,
    *events.urlpatterns,
    *imports.urlpatterns,
    *install_links.urlpatterns,
    *listing.urlpatterns,
    *matching.urlpatterns,
    *review.urlpatterns,
    *rules.urlpatterns,
    *search.urlpatterns,
    *trigger_tests.urlpatterns,
    *uploads.urlpatterns,
    *versions.urlpatterns,
    path(
        "teams/<str:team>/",
        include(
            [
                *accounts.team_urlpatterns,
                *rules.team_urlpatterns,
                *secrets.team_urlpatterns,
                *subscriptions.team_urlpatterns,
                *trigger_tests.team_urlpatterns,
                *usage.team_urlpatterns,
            ]
        ),
    ),
    path(
        "skills/<str:team>/<str:slug>/",
        include(
            [
                *trigger_tests.skill_urlpatterns,  # before matching: "run" is not the ID of a trigger test
                *matching.skill_urlpatterns,
                *subscriptions.skill_urlpatterns,
                *versions.skill_urlpatterns,
            ]
        ),
    ),
    path(
        "skills/<str:team>/<str:slug>/versions/<str:number>/",
        include(
            [
                *review.version_urlpatterns,
                *secrets.version_urlpatterns,
                *trigger_tests.version_urlpatterns,
                *versions.version_urlpatterns,
            ]
        ),
    ),
]
