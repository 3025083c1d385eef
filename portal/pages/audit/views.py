"""The audit log of the site and of a team, with filters in the URL and downloads."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http.response import HttpResponseBase
from django.shortcuts import render

from portal.decorators import require_administrator, signed_in_page
from portal.forms.suggestions import suggest
from portal.pages.audit.exports import FORMATS, export
from portal.pages.audit.forms import AuditFilterForm
from portal.presenters.audit import audit_rows
from registry.identity import audit
from registry.identity.audit import AuditFilter
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_team
from registry.models import Team

SHOWN = 50
_READ = 200  # newest entries whose users the filter suggests


@signed_in_page
def site(request: ActorRequest) -> HttpResponseBase:
    """Shows the audit log of the site. Raises Http404 unless the user is an administrator."""
    require_administrator(request.actor)
    return _log(request, "audit/site.html")


@signed_in_page
def team(request: ActorRequest, slug: str) -> HttpResponseBase:
    return _log(request, "audit/team.html", find_team(slug, request.actor))


def _log(request: ActorRequest, template: str, team: Team | None = None) -> HttpResponseBase:
    """Shows a page of entries; with ``?format=``, downloads all entries. An invalid filter selects no
    entries.
    """
    form = AuditFilterForm(request.GET)
    rows = audit.entries(request.actor, form.chosen or AuditFilter(), team=team)
    kind = request.GET.get("format", "")
    if form.chosen and kind in FORMATS:
        return export(audit.newest_first(rows), kind)
    newest = audit.entries(request.actor, AuditFilter(), team=team).order_by("-pk")[:_READ]
    suggest(form, "person", (name for name in newest.values_list("user__username", flat=True) if name))
    found = rows.order_by("-pk") if form.chosen else rows.none()
    page = Paginator(found, SHOWN).get_page(request.GET.get("page"))
    shown = audit_rows(page, request.actor)
    context = {"team": team, "filter": form, "page": page, "rows": shown, "formats": FORMATS}
    return render(request, template, context, status=200 if form.chosen else 422)
