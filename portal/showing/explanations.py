"""What a failure code means and what to do about it, in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from registry.packages.problems import CODES, filled


@dataclass(frozen=True)
class Explanation:
    code: str
    meaning: str
    remedy: str
    known: bool


def explain(
    code: str, params: Mapping[str, object] | None = None, *, message: str = "", remedy: str = ""
) -> Explanation:
    """The code's texts, with what the kept English ones say of this case; a code of the script's own making
    is said to be that."""
    declared = CODES.get(code)
    if declared is None:
        return Explanation(
            code,
            gettext("This code is the skill's own; its message and the log say more."),
            gettext("Ask the skill's authors, or read its documentation."),
            False,
        )
    kept = {**(read_back(declared.remedy, remedy) or {}), **(read_back(declared.message, message) or {})}
    known = {**kept, **(params or {})}
    return Explanation(
        code, filled(gettext(declared.message), known), filled(gettext(declared.remedy), known), True
    )


_PLACE = re.compile(r"%\((\w+)\)[sd]")


def says_the_same(code: str, message: str) -> bool:
    """Whether a kept message is its code's own text, with values in it or none."""
    return code in CODES and read_back(CODES[code].message, message) is not None


def read_back(template: str, text: str) -> dict[str, str] | None:
    """What was put into a template to make the text; None where it was not made of it.

    By looking for one piece after the other, so that no text takes long.
    """
    first, *rest = _PLACE.split(template.rstrip("."))
    text, at, found = text.rstrip("."), len(first), {}
    if text[:at].lower() != first.lower():
        return None
    for place, (name, piece) in enumerate(zip(rest[::2], rest[1::2], strict=True), 1):
        is_last = place * 2 == len(rest)
        end = len(text) - len(piece) if is_last else text.find(piece, at)
        if end < at or text[end : end + len(piece)] != piece:
            return None
        found[name], at = text[at:end], end + len(piece)
    return found if at == len(text) else None
