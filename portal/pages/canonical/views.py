"""Views of canonical skills: the list, the page of one skill, and forms for administrators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusal, add_refusals, show_refusals
from portal.forms.suggestions import suggest, visible_skills
from portal.pages.canonical.forms import ChooseForm, MirrorForm, ProposalDecisionForm, SetForm, UnsetForm
from portal.pages.canonical.presenters import canonical_row, install_lines, pinned_context, proposal_context
from portal.pages.catalog.presenters import facts_of
from registry.canonical import pins, proposals
from registry.identity.actors import Actor
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.lookup.skills import find_skill, find_version, find_version_by_label
from registry.models import Canonical, CanonicalChange, Team, Version
from registry.packages.problems import Refusal

_MAX_CHANGES = 50  # number of changes shown


@require_safe
def listing(request: ActorRequest) -> HttpResponse:
    setter = pins.may_set(request.actor)
    rows = [canonical_row(canonical, is_setter=setter) for canonical in pins.resolvable_by(request.actor)]
    changes = CanonicalChange.objects.select_related("by").order_by("-pk")[:_MAX_CHANGES] if setter else ()
    skills = [row["canonical"].skill for row in rows if row["canonical"].skill]
    facts = facts_of(skills, (), request.actor)
    context = {"rows": rows, "facts": facts, "is_setter": setter, "changes": changes}
    return render(request, "canonical/list.html", context)


@require_safe
def page(request: ActorRequest, slug: str) -> HttpResponse:
    """Shows one canonical skill; administrators also see the proposed version, affected callers and
    history.
    """
    canonical, setter = pins.find_canonical(slug, request.actor), pins.may_set(request.actor)
    row = canonical_row(canonical, is_setter=setter)
    context: dict[str, Any] = {"row": row, "canonical": canonical, "is_setter": setter}
    if canonical.digest:
        context["lines"] = install_lines(canonical)
    if canonical.version and not row["trouble"]:
        context |= pinned_context(canonical, canonical.version, request.actor)
    if setter:
        context |= _for_setters(canonical, row["waiting"], request.actor)
    return render(request, "canonical/page.html", context)


def _for_setters(canonical: Canonical, waiting: Version | None, actor: Actor) -> dict[str, Any]:
    report = pins.last_import(canonical)
    problems = pins.mirror_problems(report, canonical.slug) if report else ()
    proposal = proposals.build_proposal(canonical, waiting) if waiting else None
    context: dict[str, Any] = {
        "affected": proposal.affected if proposal else list(proposals.affected_callers(canonical.slug)),
        "changes": pins.history(canonical.slug)[:_MAX_CHANGES],
        "last_import": report,
        "mirror_problems": [problem.document(_) for problem in problems],
        "unset_form": UnsetForm(auto_id="unset-%s"),
    }
    if waiting and proposal:
        context |= proposal_context(proposal)
        context["decision"] = ProposalDecisionForm(initial={"digest": waiting.digest})
    return context


@require_safe
def redirect_by_name(request: ActorRequest, slug: str) -> HttpResponse:
    """Redirects from the canonical name to the version that it resolves to."""
    version = find_version_by_label(f"_canonical_{slug}", request.actor)
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


@signed_in_form
def new(request: ActorRequest) -> HttpResponse:
    """Sets a canonical skill in three steps: choose, preview, confirm."""
    require(request.actor, Action.SET_CANONICAL)
    if request.method == "POST":
        form: forms.Form = SetForm(request.POST)
        if form.is_valid():
            with add_refusals(form):
                return _set(form.cleaned_data, request)
    else:
        form = ChooseForm(request.GET if "skill" in request.GET else None)
    context = _new_context(form, request.actor)
    if isinstance(context["form"], ChooseForm):
        suggest(context["form"], "skill", visible_skills(request.actor))
    return render(request, "canonical/new.html", context, status=422 if context["form"].errors else 200)


def _set(given: dict[str, Any], request: ActorRequest) -> HttpResponse:
    version = find_version(find_skill(given["skill"], request.actor), given["version"], request.actor)
    more = {name: given[name] for name in ("digest", "tracked_channel", "reason")}
    canonical = pins.set_canonical(version.skill.slug, version, request.actor, **more)
    messages.success(request, _("%(name)s now points to %(version)s.") % _message_params(canonical))
    return redirect("canonical", canonical.slug)


def _new_context(form: forms.Form, actor: Actor) -> dict[str, Any]:
    """The context of the page: the form, and a preview of the change if the form names a skill.

    After a refusal it has only a ``ChooseForm`` with the error.
    """
    if not form.is_bound or not form.data.get("skill"):
        return {"form": form}
    try:
        version = find_version(find_skill(form.data["skill"], actor), form.data.get("version") or None, actor)
        found = proposals.preview_change(version.skill.slug, version, actor)
    except Refusal as refused:
        choose = ChooseForm(form.data)
        choose.is_valid()
        add_refusal(choose, refused)
        return {"form": choose}
    if not isinstance(form, SetForm):
        params = {"skill": str(version.skill), "version": version.number, "digest": version.digest}
        form = SetForm(initial=params)
    return {"form": form, **proposal_context(found)}


@signed_in_form
def mirror(request: ActorRequest) -> HttpResponse:
    require(request.actor, Action.SET_CANONICAL)
    form = MirrorForm(request.POST or None, teams=Team.objects.order_by("slug"))
    if form.is_valid():
        with add_refusals(form):
            canonical = _mirror(form.cleaned_data, request.actor)
            messages.success(request, _("Import started. Imported versions wait here until you accept them."))
            return redirect("canonical", canonical.slug)
    return render(request, "canonical/mirror.html", {"form": form}, status=422 if form.errors else 200)


def _mirror(given: dict[str, Any], actor: Actor) -> Canonical:
    options = {"credentials": given["credentials"]} if given["credentials"] else {}
    more = {name: given[name] for name in ("team", "location", "interval_s", "reason")}
    return pins.mirror(given["slug"], actor, options=options, **more)


@signed_in_action
def decide(request: ActorRequest, slug: str) -> HttpResponse:
    pins.require_may_set(slug, request.actor)
    accepts = request.POST.get("decision") == "accept"
    form = ProposalDecisionForm(request.POST)
    verb = pins.accept if accepts else pins.reject
    if form.is_valid():
        with show_refusals(request):
            canonical = verb(slug, request.actor, **form.cleaned_data)
            text = (
                _("%(name)s now points to %(version)s.")
                if accepts
                else _("%(name)s still points to %(version)s. The rejected version won't be proposed again.")
            )
            messages.success(request, text % _message_params(canonical))
    return redirect("canonical", slug)


@signed_in_action
def unset(request: ActorRequest, slug: str) -> HttpResponse:
    pins.require_may_set(slug, request.actor)
    with show_refusals(request):
        pins.unset(slug, request.actor, reason=request.POST.get("reason", ""))
        messages.success(request, _("%(name)s was removed.") % {"name": f"_canonical_{slug}"})
        return redirect("canonicals")
    return redirect("canonical", slug)


def _message_params(canonical: Canonical) -> dict[str, str]:
    return {"name": str(canonical), "version": f"{canonical.skill}@{canonical.number}"}
