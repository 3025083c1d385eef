"""The page of a prompt skill: arguments, the prompt to copy, a run button, and a download command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.errors import add_refusals
from portal.pages.skill.forms.use import UseForm
from portal.pages.skill.views.skill import layout
from portal.presenters.skill.install_lines import client_lines, need_token
from portal.presenters.skill.permissions import verdict_of
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, may, require
from registry.lookup.skills import find_skill, find_version
from registry.models import Skill, UseKind, Version
from registry.packages.manifest.manifest import manifest_of
from registry.packages.package import Manifest
from registry.usage import recording
from worker.core.budget import is_model_configured
from worker.core.display_budget import MAX_PREFILL
from worker.executors.prompt import trust_by
from worker.models import Run
from worker.protocols.call import Request
from worker.protocols.prompts import render as prompt
from worker.protocols.prompts.prompt_call import argument_names
from worker.runs.request import request_run


@dataclass(frozen=True)
class RerunSource:
    """A run to repeat. ``request`` is None if it is too long to edit on a page."""

    run: Run
    request: Mapping[str, Any] | None


@dataclass(frozen=True)
class PromptUse:
    """The version to use and its form; ``source`` is the run to repeat, or None."""

    skill: Skill
    version: Version
    manifest: Manifest
    form: UseForm
    source: RerunSource | None = None


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Shows the prompt with the submitted arguments, which are sent by POST so that no URL contains them.

    A POST counts as a load of the skill; the Run button starts a run instead.
    """
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.INSTALL, skill=skill)
    use = _prompt_use(request, skill)
    if "run" in request.POST:
        if not request.actor.is_signed_in:
            return redirect_to_login(request.get_full_path())
        if run := _start(request, use):
            return redirect("run", run.uid)
    elif request.method == "POST":
        recording.record_use(skill, request.actor.caller, UseKind.LOAD, version=use.version.number)
    status = 422 if use.form.is_bound and use.form.errors else 200
    return render(request, "skill/use.html", _context(request, use), status=status)


def _prompt_use(request: ActorRequest, skill: Skill) -> PromptUse:
    source = rerun_source(request)
    number = request.POST.get("version") or request.GET.get("version")
    version = find_version(skill, number or (source.run.version_number if source else None), request.actor)
    manifest = manifest_of(version.manifest)
    prefill = (source.request.get("inputs") or {}) if source and source.request else None
    data = request.POST if request.method == "POST" else None
    return PromptUse(skill, version, manifest, UseForm(manifest, prefill=prefill, data=data), source)


def _start(request: ActorRequest, use: PromptUse) -> Run | None:
    """Starts a run and returns it; None if the form now shows errors."""
    if not use.form.is_valid():
        return None
    with add_refusals(use.form):
        return request_run(
            actor=request.actor,
            version=use.version,
            request=Request(inputs=use.form.inputs),
            rerun_of=use.source.run if use.source else None,
        )
    return None


def _context(request: ActorRequest, use: PromptUse) -> dict[str, Any]:
    skill, version, manifest, form = use.skill, use.version, use.manifest, use.form
    trust, files = (
        trust_by(skill, version.provenance),
        version.files.exclude(path="SKILL.md").order_by("path"),
    )
    rendered = prompt.render(
        version.body,
        arguments=form.line if form.is_bound and trust.arguments else None,
        names=argument_names(manifest),
        values=form.values,
        skill_dir=f".claude/skills/{skill.slug}",
    )
    lines = client_lines(version)
    return layout(request, skill, "use", version=version, also=(files,)) | {
        "manifest": manifest,
        "verdict": verdict_of(version, request.actor),
        "form": form,
        "source": use.source,
        "prompt": rendered,
        "trust": trust,
        "no_model": manifest.context == "fork" and not is_model_configured(),
        "may_run": not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill),
        "runs_first": bool(manifest.context == "fork" or (rendered.commands and trust.commands)),
        "lines": lines,
        "with_links": request.actor.is_signed_in and need_token(lines),
        "files": files,
    }


def rerun_source(request: ActorRequest) -> RerunSource | None:
    """The run in ``rerun_of``; None if the parameter is missing or the visitor is not signed in.

    Raises Http404 if the actor may not read the run.
    """
    uid = request.POST.get("rerun_of") or request.GET.get("rerun_of")
    if not uid or not request.actor.is_signed_in:
        return None
    runs = Run.objects.readable_by(request.actor).select_related("team").without_content()
    run = get_object_or_404(runs, uid=uid[:26])
    requests = Run.objects.filter(pk=run.pk).small_values("request", max_characters=MAX_PREFILL)
    return RerunSource(run, requests.get(run.pk))
