"""Use of a skill that is a prompt: arguments in, the prompt to copy, a run of it, how to install it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.refusals import add_refusal
from portal.forms.use import UseForm
from portal.showing.installing import Line, download_line
from portal.showing.permissions import verdict_of
from portal.views.skill import layout
from registry import usage
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Skill, UseKind, Version
from registry.packages.manifest import manifest_of
from registry.packages.package import Manifest
from registry.packages.problems import Refused
from registry.permissions import Action, may, require
from worker.fork.budget import is_model_named
from worker.models import Run
from worker.protocols import prompt
from worker.protocols.call import Request
from worker.protocols.prompting import names_of
from worker.runs import request_run
from worker.ways.prompt import trust_of


@dataclass(frozen=True)
class Using:
    """A version about to be used, and what its form holds."""

    skill: Skill
    version: Version
    manifest: Manifest
    form: UseForm
    again: Run | None = None


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The prompt with what was filled in; a POST, so that no argument stands in an address."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.INSTALL, skill=skill)
    using = _using(request, skill)
    if "run" in request.POST:
        if not request.actor.is_signed_in:
            return redirect_to_login(request.get_full_path())
        if run := _start(request, using):
            return redirect("run", run.uid)
    elif request.method == "POST":
        usage.record_use(skill, request.actor.caller, UseKind.LOAD, version=using.version.number)
    status = 422 if using.form.is_bound and using.form.errors else 200
    return render(request, "use/use.html", _context(request, using), status=status)


def _using(request: ActorRequest, skill: Skill) -> Using:
    again = _again(request)
    number = request.POST.get("version") or request.GET.get("version")
    version = find_version(skill, number or (again.version_number if again else None), request.actor)
    manifest = manifest_of(version.manifest)
    before = (again.request.get("inputs") or {}) if again else None
    data = request.POST if request.method == "POST" else None
    return Using(skill, version, manifest, UseForm(manifest, before=before, data=data), again)


def _start(request: ActorRequest, using: Using) -> Run | None:
    """The run, or None where the form now says what is wrong."""
    if not using.form.is_valid():
        return None
    try:
        return request_run(
            actor=request.actor,
            version=using.version,
            request=Request(inputs=using.form.inputs),
            again_of=using.again,
        )
    except Refused as refused:
        add_refusal(using.form, refused)
        return None


def _context(request: ActorRequest, using: Using) -> dict[str, Any]:
    skill, version, manifest, form = using.skill, using.version, using.manifest, using.form
    trust = trust_of(skill.pk, version.number)
    rendered = prompt.render(
        version.body,
        arguments=form.line if form.is_bound and trust.arguments else None,
        names=names_of(manifest),
        values=form.values,
        skill_dir=f".claude/skills/{skill.slug}",
    )
    return layout(request, skill, "use", version=version) | {
        "manifest": manifest,
        "verdict": verdict_of(version, request.actor),
        "form": form,
        "again": using.again,
        "prompt": rendered,
        "trust": trust,
        "no_model": manifest.context == "fork" and not is_model_named(),
        "may_run": not request.actor.is_signed_in or may(request.actor, Action.RUN, skill=skill),
        "runs_first": bool(manifest.context == "fork" or (rendered.commands and trust.commands)),
        "lines": [Line("install-download", _("Download and unpack"), download_line(version))],
        "files": version.files.exclude(path="SKILL.md").order_by("path"),
    }


def _again(request: ActorRequest) -> Run | None:
    uid = request.POST.get("again") or request.GET.get("again")
    if not uid or not request.actor.is_signed_in:
        return None
    run = Run.objects.readable_by(request.actor).filter(uid=uid[:26]).first()
    if run is None:
        raise Http404
    return run
