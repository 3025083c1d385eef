"""A version is reported, and its reports are decided; the findings page and the inbox show them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.refusals import add_refusal, say
from portal.forms.reports import DecisionForm, ReportForm
from portal.views.skill import layout
from registry import reporting
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import Version
from registry.packages.problems import Refused
from registry.permissions import Action, require


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    require(request.actor, Action.REPORT, skill=version.skill)
    form = ReportForm(request.POST or None, initial={"reason": "malicious"})
    if request.method == "POST" and form.is_valid():
        try:
            reporting.report(version, request.actor, **form.cleaned_data)
            messages.success(request, _("Thank you. It waits for the team's maintainers now."))
            return redirect("version", team, slug, number)
        except Refused as refused:
            add_refusal(form, refused)
    context = layout(request, version.skill, "report", version=version) | {"form": form}
    return render(request, "skills/report.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def decide(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = _version(request, team, slug, number)
    row = reporting.find_report(version, uid, request.actor)
    form = DecisionForm(request.POST)
    try:
        if not form.is_valid():
            messages.error(request, _("Say why, then dismiss or uphold it."))
        elif form.cleaned_data["decision"] == "uphold":
            reporting.uphold(row, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, _("%(version)s is held.") % {"version": version})
        else:
            reporting.dismiss(row, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, _("The report is dismissed."))
    except Refused as refused:
        say(request, refused)
    return redirect("findings", team, slug, number)


def _version(request: ActorRequest, team: str, slug: str, number: str) -> Version:
    return find_version(find_skill(f"{team}/{slug}", request.actor), number, request.actor, even_held=True)
