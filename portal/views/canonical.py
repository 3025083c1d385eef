"""Canonical skills: the list, one of them with what waits, and the forms of administrators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.forms.canonical import ChooseForm, DecisionForm, MirrorForm, SetForm, UnsetForm
from portal.forms.refusals import add_refusal, say
from portal.showing.canonical import lines_for, proposal_context, row_of
from registry.actors import Actor
from registry.canonical import proposing, setting
from registry.catalog import find_named, find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Canonical, CanonicalChange, Team, Version
from registry.packages.problems import Refused
from registry.permissions import Action, require

_SHOWN = 50  # changes


@require_safe
def listing(request: ActorRequest) -> HttpResponse:
    setter = setting.is_setter(request.actor)
    rows = [row_of(canonical, is_setter=setter) for canonical in setting.known_to(request.actor)]
    changes = CanonicalChange.objects.select_related("by").order_by("-pk")[:_SHOWN] if setter else ()
    return render(request, "canonical/list.html", {"rows": rows, "is_setter": setter, "changes": changes})


@require_safe
def page(request: ActorRequest, slug: str) -> HttpResponse:
    """To administrators also what waits, whom a change affects, and the history."""
    canonical, setter = setting.find_canonical(slug, request.actor), setting.is_setter(request.actor)
    row = row_of(canonical, is_setter=setter)
    context: dict[str, Any] = {"row": row, "canonical": canonical, "is_setter": setter}
    if canonical.digest:
        context["lines"] = lines_for(canonical)
    if setter:
        context |= _for_setters(canonical, row.waiting, request.actor)
    return render(request, "canonical/page.html", context)


def _for_setters(canonical: Canonical, waiting: Version | None, actor: Actor) -> dict[str, Any]:
    report = setting.last_import(canonical)
    problems = setting.mirror_problems(report) if report else ()
    context: dict[str, Any] = {
        "affected": list(proposing.affected(canonical.slug)),
        "changes": setting.history(canonical.slug)[:_SHOWN],
        "last_import": report,
        "mirror_problems": [problem.document(_) for problem in problems],
        "unset_form": UnsetForm(auto_id="unset-%s"),
    }
    if waiting:
        context |= proposal_context(proposing.proposed(canonical, waiting))
        context["decision"] = DecisionForm(initial={"digest": waiting.digest})
    return context


@require_safe
def named(request: ActorRequest, slug: str) -> HttpResponse:
    """From the canonical name to the page of what is answered by it."""
    version = find_named(f"_canonical_{slug}", request.actor)
    return redirect("version", version.skill.team.slug, version.skill.slug, version.number)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """A skill is chosen, what would change is shown, and then it is set."""
    require(request.actor, Action.SET_CANONICAL)
    if request.method == "POST":
        form: forms.Form = SetForm(request.POST)
        if form.is_valid():
            try:
                return _set(form.cleaned_data, request)
            except Refused as refused:
                add_refusal(form, refused)
    else:
        form = ChooseForm(request.GET if "skill" in request.GET else None)
    context = _chosen(form, request.actor)
    return render(request, "canonical/new.html", context, status=422 if context["form"].errors else 200)


def _set(given: dict[str, Any], request: ActorRequest) -> HttpResponse:
    version = find_version(find_skill(given["skill"], request.actor), given["version"], request.actor)
    more = {name: given[name] for name in ("digest", "follows", "reason")}
    canonical = setting.set_canonical(version.skill.slug, version, request.actor, **more)
    messages.success(request, _("%(name)s is answered with %(version)s now.") % _words(canonical))
    return redirect("canonical", canonical.slug)


def _chosen(form: forms.Form, actor: Actor) -> dict[str, Any]:
    """The form, and what it would change where it names a skill."""
    if not form.is_bound or not form.data.get("skill"):
        return {"form": form}
    try:
        version = find_version(find_skill(form.data["skill"], actor), form.data.get("version") or None, actor)
        found = proposing.proposal(version.skill.slug, version, actor)
    except Refused as refused:
        chosen = ChooseForm(form.data)
        chosen.is_valid()
        add_refusal(chosen, refused)
        return {"form": chosen}
    if not isinstance(form, SetForm):
        named = {"skill": str(version.skill), "version": version.number, "digest": version.digest}
        form = SetForm(initial=named)
    return {"form": form, **proposal_context(found)}


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def mirror(request: ActorRequest) -> HttpResponse:
    require(request.actor, Action.SET_CANONICAL)
    form = MirrorForm(request.POST or None, teams=Team.objects.order_by("slug"))
    if request.method == "POST" and form.is_valid():
        try:
            canonical = _mirror(form.cleaned_data, request.actor)
            messages.success(request, _("It is being read. What it brings waits here until you accept it."))
            return redirect("canonical", canonical.slug)
        except Refused as refused:
            add_refusal(form, refused)
    return render(request, "canonical/mirror.html", {"form": form}, status=422 if form.errors else 200)


def _mirror(given: dict[str, Any], actor: Actor) -> Canonical:
    options = {"credentials": given["credentials"]} if given["credentials"] else {}
    more = {name: given[name] for name in ("team", "location", "interval_s", "reason")}
    return setting.mirror(given["slug"], actor, options=options, **more)


@require_POST
@login_required
def decide(request: ActorRequest, slug: str) -> HttpResponse:
    setting.require_setter(slug, request.actor)
    accepts = request.POST.get("decision") == "accept"
    form = DecisionForm(request.POST)
    verb = setting.accept if accepts else setting.reject
    if form.is_valid():
        try:
            canonical = verb(slug, request.actor, **form.cleaned_data)
            said = (
                _("%(name)s is answered with %(version)s now.")
                if accepts
                else _("%(name)s stays with %(version)s; the other is not proposed again.")
            )
            messages.success(request, said % _words(canonical))
        except Refused as refused:
            say(request, refused)
    return redirect("canonical", slug)


@require_POST
@login_required
def unset(request: ActorRequest, slug: str) -> HttpResponse:
    setting.require_setter(slug, request.actor)
    try:
        setting.unset(slug, request.actor, reason=request.POST.get("reason", ""))
    except Refused as refused:
        say(request, refused)
        return redirect("canonical", slug)
    messages.success(request, _("%(name)s means nothing any more.") % {"name": f"_canonical_{slug}"})
    return redirect("canonicals")


def _words(canonical: Canonical) -> dict[str, str]:
    return {"name": str(canonical), "version": f"{canonical.skill}@{canonical.number}"}
