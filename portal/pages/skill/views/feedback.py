"""Views for a skill's maintainers: feedback, proposed trigger tests, and added trigger tests."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.decorators import signed_in_action, signed_in_form
from portal.forms.errors import add_refusals, show_refusals
from portal.pages.skill.forms.trigger_test import TriggerTestForm
from portal.pages.skill.views.skill import layout
from registry.core.sql import Reads, read_together, reads_of
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill
from registry.matching import feedback
from registry.trigger_tests import evaluate, reevaluate


@signed_in_form
def page(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Shows the feedback page of a skill; a POST adds a trigger test."""
    skill = find_skill(f"{team}/{slug}", request.actor)
    proposals = feedback.proposals(skill, request.actor)
    form = TriggerTestForm(request.POST or None)
    if form.is_valid():
        with add_refusals(form):
            feedback.add_test(skill, **form.cleaned_data, actor=request.actor)
            return redirect("skill-feedback", skill.team.slug, skill.slug)
    tests = skill.trigger_tests.select_related("accepted_by").order_by("-pk")
    trials: Reads[Any] = reads_of()
    if skill.latest:
        skill.latest.skill = skill
        trials = evaluate.stored_results.reads(skill.latest, request.actor)
    context, results = read_together(
        layout.reads(request, skill, "feedback", also=(proposals, tests)), trials
    )
    context |= {
        "form": form,
        "counts": feedback.counts(skill),
        "proposals": proposals,
        "trials": results or [],
        "tests": tests,
        "notes": feedback.notes(skill),
    }
    return render(request, "skill/feedback.html", context, status=422 if form.errors else 200)


@signed_in_action
def decide(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    proposal = feedback.find_proposal(skill, uid, request.actor)
    with show_refusals(request):
        if request.POST.get("decision") == "accept":
            feedback.accept(proposal, request.actor)
            messages.success(request, _("Trigger test added."))
        else:
            feedback.decline(proposal, request.actor)
            messages.success(request, _("Declined. This trigger test won't be proposed again."))
    return redirect("skill-feedback", skill.team.slug, skill.slug)


@signed_in_action
def try_again(request: ActorRequest, team: str, slug: str) -> HttpResponse:
    """Evaluates the skill's trigger tests again, with the current skills, and stores the results.

    Includes the tests in the latest version's package and the tests added on this site.
    """
    skill = find_skill(f"{team}/{slug}", request.actor)
    with show_refusals(request):
        found = reevaluate.reevaluate_tests(skill, request.actor)
        passed = sum(trial.passed for trial in found)
        params = {"passed": passed, "count": len(found)}
        messages.success(request, _("%(passed)s of %(count)s trigger tests passed.") % params)
    return redirect("skill-feedback", skill.team.slug, skill.slug)


@signed_in_action
def remove(request: ActorRequest, team: str, slug: str, uid: str) -> HttpResponse:
    skill = find_skill(f"{team}/{slug}", request.actor)
    feedback.remove_test(skill, uid, request.actor)
    messages.success(request, _("Trigger test removed."))
    return redirect("skill-feedback", skill.team.slug, skill.slug)
