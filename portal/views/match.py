"""Try a sentence: which skills fit it, why, and what can be done with them; the address can be shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.forms.match import MatchForm
from portal.showing.curl import match_line
from portal.showing.reasons import stretches
from registry.matching import Match, Matches, Request, match
from registry.matching.confidence import LEAST
from registry.matching.documents import document
from registry.middleware import ActorRequest

SHOWN = 10
EXAMPLES = (
    ("en", "What will the weather in Shanghai be tomorrow?"),
    ("en", "Find out why yesterday's builds got slower"),
    ("en", "Pull the tables out of this PDF"),
    ("zh-hans", "帮我看看这份合同里的违约条款"),
    ("zh-hans", "今天北京会不会下雨"),
    ("zh-hans", "检查这个项目的依赖"),
)


@dataclass(frozen=True)
class Row:
    """A match, and what the API says of it beside."""

    match: Match
    told: Mapping[str, Any]


@require_safe
def page(request: ActorRequest) -> HttpResponse:
    form = MatchForm({name: request.GET.get(name, "") for name in MatchForm.base_fields})
    if not form.is_valid():
        return render(request, "match/match.html", {"form": form, "examples": EXAMPLES}, status=422)
    asked = form.request
    context = {"form": form, "examples": EXAMPLES, "least": LEAST}
    if asked != Request():
        context |= _answer(match(asked, request.actor, limit=SHOWN), request)
    return render(request, "match/match.html", context)


def _answer(found: Matches, request: ActorRequest) -> dict[str, Any]:
    told = document(found, request.actor)["results"]
    return {
        "found": found,
        "rows": [Row(*pair) for pair in zip(found.rows, told, strict=True)],
        "sentence": stretches(found.request.utterance, found.rows),
        "curl": match_line(found.request),
    }
