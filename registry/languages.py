"""In which languages skills are asked for, and which of them a text is in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.conf import settings

from registry import words
from registry.models import Team
from registry.packages.problems import Problem, problem, refuse

LANGUAGES = ("en", "zh")


def languages_of(team: Team) -> tuple[str, ...]:
    """The team's, else the site's."""
    return tuple(team.languages) or tuple(settings.SKILLQUAY_LANGUAGES)


def checked(languages: Sequence[str]) -> list[str]:
    """Each once; refuses one that we do not tell apart."""
    for language in languages:
        if language not in LANGUAGES:
            raise refuse(
                "LANGUAGE_UNKNOWN", path="languages", language=language[:20], known=", ".join(LANGUAGES)
            )
    return list(dict.fromkeys(languages))


def missing(team: Team, phrases: Iterable[str]) -> tuple[Problem, ...]:
    """A notice for each of the team's languages that no phrase is in."""
    found = {language_of(text) for text in phrases}
    return tuple(
        problem("PHRASE_LANGUAGE_MISSING", path="SKILL.md", language=language)
        for language in languages_of(team)
        if language not in found
    )


def language_of(text: str) -> str:
    """Chinese where there is any of its characters."""
    return "zh" if words.has_cjk(text) else "en"
