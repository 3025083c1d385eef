"""Views of findings and held versions.

They show and suppress a version's findings, release a held version, and list held versions and open reports.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.review.forms import ReasonForm
from portal.pages.skill.views.skill import layout, version_at
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may
from registry.models import Finding, Version
from registry.review import findings as reviewing
from registry.review import reports as reporting
from registry.versions.publishing.scanning import ReviewedFinding, list_findings


@require_safe
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    return _page(request, version_at(request, team, slug, number))


@login_required
@require_safe
def held_versions(request: ActorRequest) -> HttpResponse:
    """Lists held versions and open reports of the teams that the user reviews for, at most 200 of each."""
    rows = reviewing.list_held_versions(request.actor).prefetch_related("findings")
    shown = [(row, row.published_by == request.actor.user, _causes(row)) for row in rows[:200]]
    reports = reporting.list_open_reports(request.actor)[:200]
    return render(request, "review/held.html", {"held": shown, "reports": reports})


@signed_in_action
def suppress(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    form = ReasonForm(request.POST, auto_id=f"{uid}-%s")
    finding = reviewing.find_finding(version, uid)
    if not form.is_valid():
        return _page(request, version, form=form, form_of=uid)
    with show_refusals(request):
        reviewing.suppress(finding, request.actor, reason=form.cleaned_data["reason"])
        messages.success(
            request, _("Finding suppressed. The same finding in later versions is suppressed too.")
        )
    return redirect("findings", team, slug, number)


@signed_in_action
def unsuppress(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    reviewing.unsuppress(reviewing.find_finding(version, uid), request.actor)
    messages.success(request, _("The finding is no longer suppressed."))
    return redirect("findings", team, slug, number)


@signed_in_action
def release(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    form = ReasonForm(request.POST, auto_id="release-%s")
    if not form.is_valid():
        return _page(request, version, form=form, form_of="release")
    with show_refusals(request):
        reviewing.release(version, request.actor, reason=form.cleaned_data["reason"])
        messages.success(
            request, _("%(version)s is no longer held and can be used now.") % {"version": version}
        )
    return redirect("findings", team, slug, number)


def finding_rows(version: Version) -> list[dict[str, object]]:
    """The rows of ``review/findings.html``, which any page may include."""
    return [_row(one) for one in list_findings(version)]


def _row(one: ReviewedFinding) -> dict[str, object]:
    return {
        "finding": one.row,
        "suppression": one.suppression,
        "is_flagged": one.is_flagged,
        "why": one.why(_),
        "remedy": one.remedy(_),
    }


def _causes(version: Version) -> dict[str, str]:
    """The explanations of high-confidence findings by rule, one per rule; empty if only a report holds the
    version.
    """
    return {finding.rule: ReviewedFinding(finding, None).why(_) for finding in _certain_findings(version)}


def _certain_rules(version: Version) -> list[str]:
    """The rules that caused high-confidence findings; empty if only a report holds the version."""
    return [finding.rule for finding in _certain_findings(version)]


def _certain_findings(version: Version) -> list[Finding]:
    return [finding for finding in version.findings.all() if finding.certain]


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
        "certain": _certain_rules(version),
        "reviews": reviews,
        "releases": version.is_held and reviewing.may_release(version, actor),
        "release_form": form if form_of == "release" else ReasonForm(auto_id="release-%s"),
        "reports": reporting.list_reports(version, actor) if reviews else (),
        "decides": reporting.may_decide(version, actor),
        "is_publisher": actor.user is not None and version.published_by_id == actor.user.pk,
    }
    return render(request, "review/findings_page.html", context, status=422 if form else 200)


def _form_for(
    finding: Any, reviews: bool, judges: bool, form: ReasonForm | None, form_of: str
) -> ReasonForm | None:
    """The form to suppress the finding; None if the actor may not suppress it."""
    if not (judges if finding.certain else reviews):
        return None
    return form if form_of == finding.uid else ReasonForm(auto_id=f"{finding.uid}-%s")
