"""Validates user text before it is stored, and makes parts of messages."""

import re

from django.db.models import Choices
from django.utils import translation

from registry.core.errors import SLUG_INVALID, TEXT_INVALID
from registry.packages.problems import LazyMessage

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Slugs that no team can have, because clients reach a team at /<team>/: the first parts of this site's paths,
# and of protocols that the site will serve.
_RESERVED = """
    account anthropic api apm approvals c canonical clawhub collections docs errors events failures find
    forgot-password git glossary held hooks imports join listing live match mcp memory new notifications npm
    openai otlp preferences publish reset-password rules runs schedules settings shared sign-in sign-out
    sign-up site skills static styleguide teams v1
"""
RESERVED_SLUGS = frozenset(_RESERVED.split())


def validated(text: str, *, field: str, max_length: int, allow_blank: bool = False) -> str:
    """The text without surrounding whitespace. Raises TEXT_INVALID if the text is blank (unless
    ``allow_blank``), is longer than ``max_length``, or contains NUL or surrogate characters.
    """
    text = text.strip()
    broken = "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)
    if broken or len(text) > max_length or not (text or allow_blank):
        raise TEXT_INVALID.refusal(field=field, most=max_length).at(field)
    return text


def validated_slug(text: str) -> str:
    """The slug, unchanged. Raises SLUG_INVALID if it is malformed, reserved or longer than 64 characters."""
    if len(text) > 64 or not SLUG.fullmatch(text) or text in RESERVED_SLUGS:
        raise SLUG_INVALID.refusal(slug=text[:80]).at("slug")
    return text


def choice_label(choice: Choices) -> LazyMessage:
    """The label of the choice as a part of a message, translated on display."""
    with translation.override("en"):
        return LazyMessage(str(choice.label))
