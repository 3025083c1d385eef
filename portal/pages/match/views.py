"""The page that tests matching: the skills that agents get for a request, with all reasons. The URL contains
the whole request. People find skills in the catalog, which shows the best match of a sentence.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from portal.context import navigation_counts
from portal.decorators import signed_in_action
from portal.forms.errors import show_refusals
from portal.pages.match.forms import FeedbackForm, MatchForm
from portal.pages.match.presenters import is_weak, match_rows
from portal.presenters.reasons import segments
from portal.presenters.skill.curl import match_line
from registry.api.errors import FIELD_INVALID
from registry.core.sql import read_together
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill, find_version
from registry.matching import feedback
from registry.matching.feedback import MAX_UTTERANCE_CHARACTERS, FeedbackReport
from registry.matching.match import MatchQuery, MatchResult, match
from registry.matching.ranking import MIN_CONFIDENCE
from registry.models import FeedbackOutcome
from registry.rates.limits import RateLimit, count_request
from registry.search.query import MAX_QUERY_CHARACTERS

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
    FeedbackOutcome.WORKED: gettext_lazy("Thank you for your feedback. It counts as a use of %(skill)s."),
    FeedbackOutcome.WRONG_SKILL: gettext_lazy(
        "Thank you. You proposed a trigger test to the maintainers of %(skill)s: your sentence "
        "must not match this skill."
    ),
}


@require_safe
def moved(request: ActorRequest) -> HttpResponse:
    """Redirects to the catalog; requests that its search can't take, to the page that tests matching."""
    has_more = any(request.GET.get(name) for name in MatchForm.field_order if name != "q")
    has_more |= len(request.GET.get("q", "")) > MAX_QUERY_CHARACTERS
    query = request.GET.urlencode()
    target = reverse("match-test" if has_more else "catalog")
    return redirect(f"{target}?{query}" if query else target)


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    given = {name: request.GET.get(name, "") for name in MatchForm.base_fields}
    # Browsers send CRLF for a typed line break.
    form = MatchForm({name: text.replace("\r\n", "\n") for name, text in given.items()})
    if not form.is_valid():
        return render(request, "match/match.html", {"form": form, "examples": EXAMPLES}, status=422)
    match_request = form.request
    context = {"form": form, "examples": EXAMPLES, "least": MIN_CONFIDENCE}
    if match_request != MatchQuery():
        count_request(request, request.actor, RateLimit.MATCH)
        context |= _match_context(match(match_request, request.actor, limit=SHOWN), request)
    return render(request, "match/match.html", context)


def _match_context(found: MatchResult, request: ActorRequest) -> dict[str, Any]:
    rows, counts = read_together(
        match_rows.reads(found, request.actor), navigation_counts.reads(request.actor)
    )
    strong = [row for row in rows if not is_weak(row["match"])]
    return {
        **counts,
        "found": found,
        "rows": strong or rows,
        "weaker": [row for row in rows if row not in strong] if strong else [],
        "weak": not strong,
        "total": len(rows),
        "sentence": segments(found.request.utterance, found.rows),
        "curl": match_line(found.request),
    }


@signed_in_action
def report(request: ActorRequest) -> HttpResponse:
    """Stores feedback about a match and redirects to the page with the form. An invalid form raises
    FIELD_INVALID.
    """
    form = FeedbackForm(request.POST)
    if not form.is_valid():
        raise FIELD_INVALID.refusal(field="outcome", reason="Choose worked or wrong_skill.").at("outcome")
    given = form.cleaned_data
    version = find_version(find_skill(given["skill"], request.actor), None, request.actor)
    feedback_report = FeedbackReport(given["outcome"], utterance=given["q"][:MAX_UTTERANCE_CHARACTERS])
    with show_refusals(request):
        feedback.submit_feedback(version, feedback_report, request.actor)
        messages.success(request, _THANKS[given["outcome"]] % {"skill": version.skill})
    page = reverse("match-test" if given["is_test"] else "catalog")
    return redirect(f"{page}?{form.query_string}")
