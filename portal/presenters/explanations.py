"""Meaning and remedy of failure codes, in the reader's language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from registry.packages.problems import CODES, code_named, fill_known


@dataclass(frozen=True)
class Explanation:
    code: str
    meaning: str
    remedy: str
    known: bool


def explain(
    code: str, params: Mapping[str, object] | None = None, *, message: str = "", remedy: str = ""
) -> Explanation:
    """The translated texts of the code, with values from ``params`` or from the stored English texts.

    For undeclared codes, such as those of a skill, the texts are general and ``known`` is False.
    """
    declared = CODES.get(code)
    if declared is None:
        return Explanation(
            code,
            gettext("This code comes from the skill; see its message and the log."),
            gettext("Ask the skill's authors or read its documentation."),
            False,
        )
    stored = {
        **(extract_params(declared.remedy, remedy) or {}),
        **(extract_params(declared.message, message) or {}),
    }
    known = {**stored, **(params or {})}
    return Explanation(
        code, fill_known(gettext(declared.message), known), fill_known(gettext(declared.remedy), known), True
    )


_PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")


def is_standard_message(code: str, message: str) -> bool:
    """Whether a stored message is the text of its code, with or without values."""
    return code in CODES and extract_params(code_named(code).message, message) is not None


def extract_params(template: str, text: str) -> dict[str, str] | None:
    """The values that were put into ``template`` to produce ``text``; None if it was not produced from it.

    Searches one literal piece after another, in linear time.
    """
    first, *rest = _PLACEHOLDER.split(template.rstrip("."))
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
