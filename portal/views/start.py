"""Starting a skill: a small package of a kind, looked at, downloaded, or published and tried at once."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from portal.forms.refusals import add_refusal
from portal.forms.start import StartForm
from portal.showing import highlighting
from portal.showing.skill_use import offer_of
from portal.views.publish import teams_of
from registry import starting
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import CODES, Refused
from registry.packages.starting import Start


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest) -> HttpResponse:
    """The form; its buttons show the files or publish them."""
    teams = teams_of(request.actor)
    if request.method == "GET":
        language = "zh" if (get_language() or "").startswith("zh") else "en"
        return _shown(request, StartForm(teams=teams, initial={"language": language, **request.GET.dict()}))
    form = StartForm(request.POST, teams=teams)
    if not form.is_valid():
        return _shown(request, form, status=422)
    try:
        if "publish" in request.POST:
            return _published(request, form)
        return _shown(request, form, given=form.start)
    except Refused as refused:
        add_refusal(form, refused)
        return _shown(request, form, status=CODES[refused.code].http)


def _published(request: ActorRequest, form: StartForm) -> HttpResponse:
    done = starting.publish_start(form.start, team=form.cleaned_data["team"], actor=request.actor)
    label = {"version": f"{done.version.skill}@{done.version.number}"}
    messages.success(request, _("%(version)s is there, for its team alone. Try it.") % label)
    return redirect(_trying(done.version), done.version.skill.team.slug, done.version.skill.slug)


def _trying(version: Version) -> str:
    """The page on which the skill is tried."""
    offer = offer_of(version)
    if offer.runnable:
        return "run-form"
    return "use" if offer.menu.prompt else "skill"


def _shown(
    request: ActorRequest, form: StartForm, *, given: Start | None = None, status: int = 200
) -> HttpResponse:
    context = {"form": form, "can": form.fields["team"].queryset.exists()}  # type: ignore[attr-defined]
    if given:
        files = starting.package_of(given).files
        context["files"] = [
            (file.path, highlighting.lines(file.data.decode(), highlighting.language_of(file.path)))
            for file in files
        ]
        context["download"] = "/api/v1/kinds/archive?" + urlencode(
            {name: getattr(given, name) for name in ("kind", "name", "title", "description", "language")}
        )
    return render(request, "publish/new.html", context, status=status)
