"""The page that creates a skill from a template: preview, download, or publish."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.decorators import signed_in_form
from portal.forms.errors import add_refusal
from portal.forms.team_choice import has_team_to_publish, publishing_teams
from portal.pages.publish.forms.new_skill import NewSkillForm
from portal.presenters.content import highlighting
from portal.presenters.skill.runnable_version import runnable_version
from registry.identity.middleware import ActorRequest
from registry.models import Version
from registry.packages.authoring.new_skill import NewSkill
from registry.packages.problems import Refusal, code_named
from registry.rates.limits import RateLimit, count_request
from registry.versions.content import new_skill


@signed_in_form
def page(request: ActorRequest) -> HttpResponse:
    """Shows the form for a new skill; its buttons preview the files or publish them."""
    teams = publishing_teams(request.actor)
    if request.method == "GET":
        language = "zh" if (get_language() or "").startswith("zh") else "en"
        return _render(
            request, NewSkillForm(teams=teams, initial={"language": language, **request.GET.dict()})
        )
    count_request(request, request.actor, RateLimit.PUBLISH)
    form = NewSkillForm(request.POST, teams=teams)
    if not form.is_valid():
        return _render(request, form, status=422)
    try:
        if "publish" in request.POST:
            return _publish(request, form)
        return _render(request, form, start=form.start)
    except Refusal as refused:
        add_refusal(form, refused)
        return _render(request, form, status=code_named(refused.code).http)


def _publish(request: ActorRequest, form: NewSkillForm) -> HttpResponse:
    done = new_skill.publish_new_skill(form.start, team=form.cleaned_data["team"], actor=request.actor)
    label = {"version": f"{done.version.skill}@{done.version.number}"}
    messages.success(request, _("%(version)s was published. For now, only its team can see it.") % label)
    return redirect(_try_page(done.version), done.version.skill.team.slug, done.version.skill.slug)


def _try_page(version: Version) -> str:
    """The URL name of the page where the skill can be tried."""
    runnable = runnable_version(version)
    if runnable.runnable:
        return "run-form"
    return "use" if runnable.entry_points.prompt else "skill"


def _render(
    request: ActorRequest, form: NewSkillForm, *, start: NewSkill | None = None, status: int = 200
) -> HttpResponse:
    teams, chosen = form.fields["team"].queryset, request.GET.get("team", "")  # type: ignore[attr-defined]
    context = {"form": form, "can": bool(request.POST) or has_team_to_publish(teams, chosen)}
    if start:
        files = new_skill.build_package(start).files
        context["files"] = [
            (file.path, highlighting.lines(file.data.decode(), highlighting.language_of(file.path)))
            for file in files
        ]
        context["download"] = "/api/v1/templates/archive?" + urlencode(
            {name: getattr(start, name) for name in ("template", "name", "title", "description", "language")}
        )
    return render(request, "publish/new.html", context, status=status)
