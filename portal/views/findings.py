"""A version's findings, and the versions that wait for a review."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal.forms.findings import ReasonForm
from portal.forms.refusals import say
from portal.views.skill import layout
from registry import reporting, reviewing
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import Refused
from registry.permissions import Action, may
from registry.scanning import Shown, findings_of


@require_safe
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    return _page(request, _version(request, team, slug, number))


@login_required
@require_safe
def held(request: ActorRequest) -> HttpResponse:
    """What waits for somebody to read it, of the teams that the reader reviews for."""
    rows = reviewing.held_versions(request.actor).prefetch_related("findings")
    shown = [(row, row.published_by == request.actor.user, _certain(row)) for row in rows[:200]]
    reports = reporting.open_reports(request.actor)[:200]
    return render(request, "skills/held.html", {"held": shown, "reports": reports, "section": "teams"})


@login_required
@require_POST
def suppress(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    form = ReasonForm(request.POST, auto_id=f"{uid}-%s")
    finding = reviewing.find_finding(version, uid)
    if not form.is_valid():
        return _page(request, version, form=form, form_of=uid)
    try:
        reviewing.suppress(finding, request.actor, reason=form.cleaned_data["reason"])
        messages.success(
            request, _("The finding is suppressed, here and where a later version says the same.")
        )
    except Refused as refused:
        say(request, refused)
    return redirect("findings", team, slug, number)


@login_required
@require_POST
def unsuppress(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    reviewing.unsuppress(reviewing.find_finding(version, uid), request.actor)
    messages.success(request, _("The finding is told again."))
    return redirect("findings", team, slug, number)


@login_required
@require_POST
def release(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    form = ReasonForm(request.POST, auto_id="release-%s")
    if not form.is_valid():
        return _page(request, version, form=form, form_of="release")
    try:
        reviewing.release(version, request.actor, reason=form.cleaned_data["reason"])
        messages.success(request, _("%(version)s is released.") % {"version": version})
    except Refused as refused:
        say(request, refused)
    return redirect("findings", team, slug, number)


def finding_rows(version: Version) -> list[dict[str, object]]:
    """What ``skills/findings.html`` shows of a version; any page may include it."""
    return [_row(one) for one in findings_of(version)]


def _row(one: Shown) -> dict[str, object]:
    return {
        "finding": one.row,
        "suppression": one.suppression,
        "is_flagged": one.is_flagged,
        "why": one.why(_),
        "remedy": one.remedy(_),
    }


def _certain(version: Version) -> list[str]:
    """The rules that are certain of it; none where a report holds it."""
    return [finding.rule for finding in version.findings.all() if finding.certain]


def _page(
    request: ActorRequest, version: Version, *, form: ReasonForm | None = None, form_of: str = ""
) -> HttpResponse:
    skill, actor = version.skill, request.actor
    reviews = may(actor, Action.REVIEW, skill=skill)
    rows = finding_rows(version)
    for row in rows:
        row["form"] = _form_for(row["finding"], reviews, reviewing.may_release(version, actor), form, form_of)
    context: dict[str, Any] = layout(request, skill, "findings", version=version) | {
        "rows": rows,
        "certain": _certain(version),
        "reviews": reviews,
        "releases": version.is_held and reviewing.may_release(version, actor),
        "release_form": form if form_of == "release" else ReasonForm(auto_id="release-%s"),
        "reports": reporting.of_version(version, actor) if reviews else (),
        "decides": reporting.may_decide(version, actor),
        "is_publisher": actor.user is not None and version.published_by_id == actor.user.pk,
    }
    return render(request, "skills/findings_page.html", context, status=422 if form else 200)


def _form_for(
    finding: Any, reviews: bool, judges: bool, form: ReasonForm | None, form_of: str
) -> ReasonForm | None:
    """A field for the reason, for those whose judgement would count."""
    if not (judges if finding.certain else reviews):
        return None
    return form if form_of == finding.uid else ReasonForm(auto_id=f"{finding.uid}-%s")


def _version(request: ActorRequest, team: str, slug: str, number: str) -> Version:
    return find_version(find_skill(f"{team}/{slug}", request.actor), number, request.actor, even_held=True)
