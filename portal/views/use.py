"""Use of a skill that is a prompt: arguments in, the prompt to copy, and the lines that install it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.use import UseForm
from portal.showing.installing import Line, download_line
from portal.showing.permissions import verdict_of
from portal.views.skill import layout
from registry import usage
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import UseKind
from registry.packages.manifest import manifest_of
from registry.permissions import Action, require
from worker.protocols import prompt


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The prompt with what was filled in; a POST, so that no argument stands in an address."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    require(request.actor, Action.INSTALL, skill=skill)
    number = request.POST.get("version") or request.GET.get("version")
    version = find_version(skill, number, request.actor)
    manifest = manifest_of(version.manifest)
    form = UseForm(manifest, data=request.POST if request.method == "POST" else None)
    if request.method == "POST":
        usage.record_use(skill, request.actor.caller, UseKind.LOAD, version=version.number)
    rendered = prompt.render(
        version.body,
        arguments=form.line if form.is_bound and not skill.is_remote else None,
        names=manifest.arguments,
        values=form.values,
        skill_dir=f".claude/skills/{skill.slug}",
    )
    context = layout(request, skill, "use", version=version) | {
        "manifest": manifest,
        "verdict": verdict_of(version, request.actor),
        "form": form,
        "prompt": rendered,
        "lines": [Line("install-download", _("Download and unpack"), download_line(version))],
        "files": version.files.exclude(path="SKILL.md").order_by("path"),
    }
    return render(request, "use/use.html", context)
