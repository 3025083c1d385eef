"""The names in rules, as document D has them: exact, or ``prefix:*`` for all that begin so."""

from __future__ import annotations

import re
from collections.abc import Collection

LONGEST = 140
ANY = ":*"
_NAME = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*/)?(?:_canonical_)?[a-z0-9]+(?:-[a-z0-9]+)*")
_BEGINNING = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9-]*)?")


def normal(written: str) -> str | None:
    """Without a leading ``/`` and in small letters, or None for what can be no skill's name."""
    name = written.strip().removeprefix("/").lower()
    shape = _BEGINNING if name.endswith(ANY) else _NAME
    return name if len(name) <= LONGEST and shape.fullmatch(name.removesuffix(ANY)) else None


def is_prefix(name: str) -> bool:
    return name.endswith(ANY)


def matches(name: str, candidates: Collection[str]) -> bool:
    """Whether a rule of this name is about a skill that goes by these names."""
    if is_prefix(name):
        return any(candidate.startswith(name.removesuffix(ANY)) for candidate in candidates)
    return name in candidates
