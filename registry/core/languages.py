"""The languages of trigger phrases, and language detection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from registry.core import search_terms
from registry.core.errors import LANGUAGE_UNKNOWN, PHRASE_LANGUAGE_MISSING
from registry.packages.problems import Problem

if TYPE_CHECKING:
    from registry.models import Team

LANGUAGES = ("en", "zh")


def languages_of(team: Team) -> tuple[str, ...]:
    """The codes of the team's languages; the site's (``SKILLQUAY_LANGUAGES``) if the team has set none."""
    return tuple(team.languages) or tuple(settings.SKILLQUAY_LANGUAGES)


def validated_languages(languages: Sequence[str]) -> list[str]:
    """The languages in order, without duplicates. Raises LANGUAGE_UNKNOWN for a language that is not in
    ``LANGUAGES``.
    """
    for language in languages:
        if language not in LANGUAGES:
            raise LANGUAGE_UNKNOWN.refusal(language=language[:20], known=tuple(LANGUAGES)).at("languages")
    return list(dict.fromkeys(languages))


def missing_languages(team: Team, phrases: Iterable[str]) -> tuple[Problem, ...]:
    """A PHRASE_LANGUAGE_MISSING notice for each of the team's languages without a phrase."""
    present = {language_of(text) for text in phrases}
    return tuple(
        PHRASE_LANGUAGE_MISSING.problem(language=language).at("SKILL.md")
        for language in languages_of(team)
        if language not in present
    )


def language_of(text: str) -> str:
    """``zh`` if the text has a Chinese, Japanese or Korean character, otherwise ``en``."""
    return "zh" if search_terms.has_cjk(text) else "en"
