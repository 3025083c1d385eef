"""Views that report a version or decide a report. Reports are listed by the views of findings."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.review.forms import ReportDecisionForm, ReportForm
from portal.pages.skill.views.skill import layout, version_at
from registry.identity.middleware import ActorRequest
from registry.identity.permissions import Action, require
from registry.review import reports as reporting


@signed_in_form
def page(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    require(request.actor, Action.REPORT, skill=version.skill)
    form = ReportForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            reporting.report_version(version, request.actor, **form.cleaned_data)
            messages.success(request, _("Thank you. The team's maintainers will review your report."))
            return redirect("version", team, slug, number)
    context = layout(request, version.skill, "report", version=version) | {"form": form}
    return render(request, "review/report.html", context, status=422 if form.errors else 200)


@signed_in_action
def decide(request: ActorRequest, team: str, slug: str, number: str, uid: str) -> HttpResponse:
    version = version_at(request, team, slug, number)
    row = reporting.find_report(version, uid, request.actor)
    form = ReportDecisionForm(request.POST)
    with show_refusals(request):
        if not form.is_valid():
            messages.error(request, _("Give a reason, then dismiss or confirm the report."))
        elif form.cleaned_data["decision"] == "uphold":
            reporting.uphold_report(row, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, _("%(version)s is held.") % {"version": version})
        else:
            reporting.dismiss_report(row, request.actor, reason=form.cleaned_data["reason"])
            messages.success(request, _("Report dismissed."))
    return redirect("findings", team, slug, number)
