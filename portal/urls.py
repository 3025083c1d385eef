"""The routes of the API and of all pages; each area lists its pages in its own ``urls`` module."""

from django.urls import URLPattern, URLResolver, include, path

from portal.delivery.remembered_routes import RememberedRoutes
from portal.pages.account import urls as account
from portal.pages.admin import urls as admin
from portal.pages.approvals import urls as approvals
from portal.pages.audit import urls as audit
from portal.pages.canonical import urls as canonical
from portal.pages.catalog import urls as catalog
from portal.pages.collections import urls as collections
from portal.pages.docs import urls as docs
from portal.pages.errors import views as errors
from portal.pages.events import urls as events
from portal.pages.failures import urls as failures
from portal.pages.glossary import urls as glossary
from portal.pages.home import urls as home
from portal.pages.imports import urls as imports
from portal.pages.listing import urls as listing
from portal.pages.live import urls as live
from portal.pages.match import urls as match
from portal.pages.memory import urls as memory
from portal.pages.notifications import urls as notifications
from portal.pages.palette import urls as palette
from portal.pages.publish import urls as publish
from portal.pages.retention import urls as retention
from portal.pages.review import urls as review
from portal.pages.rules import urls as rules
from portal.pages.runs import urls as runs
from portal.pages.schedules import urls as schedules
from portal.pages.secrets import urls as secrets
from portal.pages.security import urls as security
from portal.pages.shared import urls as shared
from portal.pages.skill import urls as skill
from portal.pages.styleguide import urls as styleguide
from portal.pages.teams import urls as teams
from portal.pages.usage import urls as usage
from portal.pages.users import urls as users
from portal.pages.versions import urls as versions
from registry.api.reference import pages
from registry.events.api.webhooks import WebhookDelivery
from registry.facades.anthropic import urls as anthropic
from registry.facades.apm import urls as apm
from registry.facades.clawhub import urls as clawhub
from registry.facades.command_line import urls as command_line
from registry.facades.git import urls as git
from registry.facades.npm import urls as npm
from registry.facades.openai import urls as openai
from registry.facades.otlp import urls as otlp
from registry.facades.well_known import urls as well_known
from worker.facades.mcp import urls as mcp

_routes: list[URLPattern | URLResolver] = [
    *home.urlpatterns,
    *palette.urlpatterns,
    *live.urlpatterns,
    *styleguide.urlpatterns,
    *account.urlpatterns,
    *security.urlpatterns,
    *teams.urlpatterns,
    *rules.urlpatterns,
    *memory.urlpatterns,
    *listing.urlpatterns,
    *catalog.urlpatterns,
    *skill.urlpatterns,
    *match.urlpatterns,
    *canonical.urlpatterns,
    *collections.urlpatterns,
    *runs.urlpatterns,
    *shared.urlpatterns,
    *failures.urlpatterns,
    *admin.urlpatterns,
    *retention.urlpatterns,
    *users.urlpatterns,
    *audit.urlpatterns,
    *glossary.urlpatterns,
    *events.urlpatterns,
    *imports.urlpatterns,
    *publish.urlpatterns,
    *review.urlpatterns,
    *approvals.urlpatterns,
    *notifications.urlpatterns,
    *schedules.urlpatterns,
    path(
        "teams/<slug:slug>/",
        include(
            [
                *teams.team_urlpatterns,
                *audit.team_urlpatterns,
                *rules.team_urlpatterns,
                *memory.team_urlpatterns,
                *secrets.team_urlpatterns,
                *retention.team_urlpatterns,
                *listing.team_urlpatterns,
                *notifications.team_urlpatterns,
            ]
        ),
    ),
    path(
        "skills/<slug:team>/<slug:slug>/",
        include(
            [
                *home.skill_urlpatterns,
                *rules.skill_urlpatterns,
                *skill.skill_urlpatterns,
                *versions.skill_urlpatterns,
                *runs.skill_urlpatterns,
                *usage.skill_urlpatterns,
            ]
        ),
    ),
    # The number matches any word, so these routes come after those with a fixed word in its place.
    path(
        "skills/<slug:team>/<slug:slug>/<str:number>/",
        include(
            [
                *skill.version_urlpatterns,
                *versions.version_urlpatterns,
                *publish.version_urlpatterns,
                *review.version_urlpatterns,
            ]
        ),
    ),
    path("api/v1/", include("registry.api.urls")),
    path("api/v1/", include("worker.api.urls")),
    path("hooks/<str:uid>", WebhookDelivery.as_view(), name="hook"),
    path("api/schema/", pages.SchemaView.as_view(), name="api-schema"),
    path("api/docs/", pages.DocsView.as_view(), name="api-docs"),
    path("llms.txt", pages.GuideView.as_view(), name="llms"),
    *anthropic.urlpatterns,
    *apm.urlpatterns,
    *clawhub.urlpatterns,
    *openai.urlpatterns,
    *otlp.urlpatterns,
    *npm.urlpatterns,
    *git.urlpatterns,
    *command_line.urlpatterns,
    *mcp.urlpatterns,
    *well_known.urlpatterns,
    # Last, because older sites can have a team "docs", whose skills package managers reach at /docs/.
    *docs.urlpatterns,
]
urlpatterns = [RememberedRoutes(_routes)]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.broken
