"""What agents told of a skill, the trigger tests that came of it, and those that maintainers write."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from portal.forms.feedback import TriggerTestForm
from portal.forms.refusals import add_refusal, say
from portal.views.skill import layout
from registry import feedback, retrials, trials
from registry.catalog import find_skill
from registry.middleware import ActorRequest
from registry.packages.problems import Refused


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """For maintainers; a POST writes a trigger test."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    proposals = feedback.proposals(skill, request.actor)
    form = TriggerTestForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            feedback.add_test(skill, **form.cleaned_data, actor=request.actor)
            return redirect("skill-feedback", skill.team.slug, skill.slug)
        except Refused as refused:
            add_refusal(form, refused)
    context = layout(request, skill, "feedback") | {
        "form": form,
        "counts": feedback.counts(skill),
        "proposals": proposals,
        "trials": trials.results(skill.latest, request.actor) if skill.latest else [],
        "tests": skill.trigger_tests.select_related("accepted_by").order_by("-pk"),
        "notes": feedback.notes(skill),
    }
    return render(request, "skills/feedback.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def decide(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    proposal = feedback.find_proposal(skill, uid, request.actor)
    try:
        if request.POST.get("decision") == "accept":
            feedback.accept(proposal, request.actor)
            messages.success(request, _("It is a trigger test of the skill now."))
        else:
            feedback.decline(proposal, request.actor)
            messages.success(request, _("Declined; the same words are not proposed again."))
    except Refused as refused:
        say(request, refused)
    return redirect("skill-feedback", skill.team.slug, skill.slug)


@login_required
@require_POST
def try_again(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """The trigger tests of the latest version and of the site, beside what is offered today."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    try:
        found = retrials.try_again(skill, request.actor)
        passed = sum(trial.passed for trial in found)
        said = {"passed": passed, "count": len(found)}
        messages.success(request, _("%(passed)s of %(count)s trigger tests passed.") % said)
    except Refused as refused:
        say(request, refused)
    return redirect("skill-feedback", skill.team.slug, skill.slug)


@login_required
@require_POST
def remove(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    feedback.remove_test(skill, uid, request.actor)
    messages.success(request, _("The trigger test is gone."))
    return redirect("skill-feedback", skill.team.slug, skill.slug)
