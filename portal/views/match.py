"""Try a sentence: which skills fit it, why, and what can be done with them; the address can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from portal.forms.match import FeedbackForm, MatchForm
from portal.forms.refusals import say
from portal.showing.curl import match_line
from portal.showing.prefilling import run_addresses
from portal.showing.reasons import stretches
from registry import feedback
from registry.catalog import find_skill, find_version
from registry.feedback import LONGEST_UTTERANCE, Told
from registry.matching import Match, Matches, Request, match
from registry.matching.confidence import LEAST
from registry.matching.documents import document
from registry.middleware import ActorRequest
from registry.models import FeedbackOutcome
from registry.packages.problems import Refused, refuse

SHOWN = 10
EXAMPLES = (
    ("en", "What will the weather in Shanghai be tomorrow?"),
    ("en", "Find out why yesterday's builds got slower"),
    ("en", "Pull the tables out of this PDF"),
    ("zh-hans", "帮我看看这份合同里的违约条款"),
    ("zh-hans", "今天北京会不会下雨"),
    ("zh-hans", "检查这个项目的依赖"),
)
_THANKS = {
    FeedbackOutcome.WORKED: gettext_lazy("Thank you. It counts as a use of %(skill)s."),
    FeedbackOutcome.WRONG_SKILL: gettext_lazy(
        "Thank you. The maintainers of %(skill)s are offered the sentence as a test that must not match."
    ),
}


@dataclass(frozen=True)
class Row:
    """A match, and what the API says of it beside."""

    match: Match
    told: Mapping[str, Any]
    run_address: str


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    given = {name: request.GET.get(name, "") for name in MatchForm.base_fields}
    form = MatchForm({name: text.replace("\r\n", "\n") for name, text in given.items()})  # as it was typed
    if not form.is_valid():
        return render(request, "match/match.html", {"form": form, "examples": EXAMPLES}, status=422)
    asked = form.request
    context = {"form": form, "examples": EXAMPLES, "least": LEAST}
    if asked != Request():
        context |= _answer(match(asked, request.actor, limit=SHOWN), request)
    return render(request, "match/match.html", context)


def _answer(found: Matches, request: ActorRequest) -> dict[str, Any]:
    told = document(found, request.actor)["results"]
    runs = run_addresses((row.skill for row in found.rows), found.request.utterance, request.actor)
    return {
        "found": found,
        "rows": [Row(row, said, runs[row.skill.pk]) for row, said in zip(found.rows, told, strict=True)],
        "sentence": stretches(found.request.utterance, found.rows),
        "curl": match_line(found.request),
    }


@login_required
@require_POST
def report(request: ActorRequest) -> HttpResponse:
    """What somebody says of a skill that their sentence found; they are led back to the question."""
    form = FeedbackForm(request.POST)
    if not form.is_valid():
        raise refuse("FIELD_INVALID", path="outcome", field="outcome", reason="worked or wrong_skill")
    given = form.cleaned_data
    version = find_version(find_skill(given["skill"], request.actor), None, request.actor)
    told = Told(given["outcome"], utterance=given["q"][:LONGEST_UTTERANCE])
    try:
        feedback.report(version, told, request.actor)
        messages.success(request, _THANKS[given["outcome"]] % {"skill": version.skill})
    except Refused as refused:
        say(request, refused)
    return redirect(f"{reverse('match')}?{form.question}")
