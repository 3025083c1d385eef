"""Skill names in allow and deny rules: an exact name, or ``prefix:*`` for every name with that prefix."""

import re
from collections.abc import Collection

MAX_LENGTH = 140
PREFIX_MARK = ":*"
_NAME = re.compile(r"(?:[a-z0-9]+(?:-[a-z0-9]+)*/)?(?:_canonical_)?[a-z0-9]+(?:-[a-z0-9]+)*")
_PREFIX = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9-]*)?")


def normalize(written: str) -> str | None:
    """The name in lower case without a leading ``/``; None if it can be neither a skill name nor a prefix."""
    name = written.strip().removeprefix("/").lower()
    shape = _PREFIX if name.endswith(PREFIX_MARK) else _NAME
    return name if len(name) <= MAX_LENGTH and shape.fullmatch(name.removesuffix(PREFIX_MARK)) else None


def is_prefix(name: str) -> bool:
    return name.endswith(PREFIX_MARK)


def matches(name: str, candidates: Collection[str]) -> bool:
    """Whether a rule with this name applies to a skill that has one of the candidate names."""
    if is_prefix(name):
        return any(candidate.startswith(name.removesuffix(PREFIX_MARK)) for candidate in candidates)
    return name in candidates
