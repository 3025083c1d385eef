"""Characters that no reader sees: tags, zero widths, variation selectors, directions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.checks import SEVERITIES, Check, Seen, Severity
from registry.packages.scan.text import Line, Text, quote

_FLAGS = re.compile(
    "\U0001f3f4(?:\U000e0067\U000e0062)(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_TAGS = re.compile("[\U000e0000-\U000e007f]+")


def look_for_tags(text: Text) -> Iterator[Seen]:
    """A second text in letters without shape; flags of England, Scotland and Wales are written in them."""
    for line in _lines_beyond_ascii(text, _TAGS):
        plain = _FLAGS.sub(lambda flag: " " * len(flag.group()), line.text)
        if found := _TAGS.search(plain):
            said = "".join(chr(ord(one) - 0xE0000) for one in found.group())
            is_text = sum(" " <= one <= "~" for one in said) >= 4
            shown = quote(f"‹tags: {said}›", 0, 0) if is_text else ""
            yield Seen(line, found.start(), found.end(), "critical" if is_text else "medium", is_text, shown)


_ZERO_WIDTHS = re.compile(
    "[\u200b-\u200d\u2060-\u2064\u180e\ufeff\u034f\U000e0100-\U000e01ef]+|[\ufe00-\ufe0f]{2,}"
)
_JOINERS = frozenset("\u200c\u200d")
_MANY = 8  # as a letter takes eight bits


def look_for_zero_widths(text: Text) -> Iterator[Seen]:
    """Runs of characters without width: text in bits, or words taken apart so that nobody finds them."""
    for line in _lines_beyond_ascii(text, _ZERO_WIDTHS):
        runs = [
            (found, severity) for found in _ZERO_WIDTHS.finditer(line.text) if (severity := _of_run(found))
        ]
        if runs:
            is_many = sum(len(found.group()) for found, _severity in runs) >= 2 * _MANY
            found, severity = max(runs, key=lambda run: SEVERITIES.index(run[1]))
            severity = "critical" if is_many else severity
            yield Seen(line, found.start(), found.end(), severity, severity == "critical")


def _of_run(found: re.Match[str]) -> Severity | None:
    line, (start, end) = found.string, found.span()
    run, before, after = found.group(), line[max(start - 1, 0) : start], line[end : end + 1]
    if len(run) >= _MANY:
        return "critical"
    if len(run) == 1 and run in _JOINERS and (_joins(before) or _joins(after)):
        return None
    if "\U000e0100" <= run[0] <= "\U000e01ef" and len(run) == 1:
        return None  # a form of an ideograph
    splits = before.isascii() and after.isascii() and before.isalpha() and after.isalpha()
    return "medium" if len(run) >= 3 or splits else "low"


def _joins(character: str) -> bool:
    """Emoji, and scripts that need joiners: Arabic, Hebrew, those of India, Mongolian and their kin."""
    if not character:
        return False
    point = ord(character)
    return (
        point > 0x2000 or 0x0590 <= point <= 0x18AF or unicodedata.category(character) in ("So", "Mn", "Mc")
    )


_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDES = frozenset("\u202d\u202e")


def look_for_directions(text: Text) -> Iterator[Seen]:
    """Marks that show a line in another order than it runs; scripts from right to left may need them."""
    for line in _lines_beyond_ascii(text, _DIRECTIONS):
        found = _DIRECTIONS.search(line.text)
        if found is None:
            continue
        overrides = bool(_OVERRIDES & set(line.text))
        if _is_right_to_left(line.text) and not (overrides and not text.is_prose):
            continue
        severity: Severity = "critical" if overrides and not text.is_prose else "high" if overrides else "low"
        yield Seen(line, found.start(), found.end(), severity, severity == "critical")


def _is_right_to_left(line: str) -> bool:
    return any(unicodedata.bidirectional(one) in ("R", "AL") for one in line)


def _lines_beyond_ascii(text: Text, pattern: re.Pattern[str]) -> Iterator[Line]:
    if not text.raw.isascii() and pattern.search(text.raw):
        for number, row in enumerate(text.rows, 1):
            if not row.isascii():
                yield from text.pieces(number)


_INVISIBLE = _("It holds characters that no reader sees and an agent reads.")
CHECKS = (
    Check(
        "tag-characters",
        _("A second text is hidden in characters without shape."),
        _("Delete the characters; an editor that shows code points finds them."),
        look_for_tags,
    ),
    Check(
        "zero-width",
        _INVISIBLE,
        _("Delete the characters; an editor that shows code points finds them."),
        look_for_zero_widths,
    ),
    Check(
        "bidi-override",
        _("Marks of direction make the line look other than it runs."),
        _("Delete the marks; texts from right to left need none of them in code."),
        look_for_directions,
    ),
)
