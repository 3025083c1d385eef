"""What a failure code means and what to do about it, in the reader's language."""

from __future__ import annotations

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


def explain(code: str, params: Mapping[str, object] | None = None) -> Explanation:
    """The code's texts; a code of the script's own making is said to be that."""
    declared = CODES.get(code)
    if declared is None:
        return Explanation(
            code,
            gettext("This code is the skill's own; its message and the log say more."),
            gettext("Ask the skill's authors, or read its documentation."),
            False,
        )
    known = params or {}
    return Explanation(
        code, filled(gettext(declared.message), known), filled(gettext(declared.remedy), known), True
    )
