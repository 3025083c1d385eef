"""Checks for invisible characters: tags, zero-width characters, variation selectors, direction marks."""

import re
import unicodedata
from collections.abc import Iterator

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.findings import SEVERITIES, Check, CheckHit, Severity
from registry.packages.scan.text import ScannedText, SourceLine, quote

_FLAGS = re.compile(
    "\U0001f3f4(?:\U000e0067\U000e0062)(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_TAGS = re.compile("[\U000e0000-\U000e007f]+")


def look_for_tags(text: ScannedText) -> Iterator[CheckHit]:
    """Finds invisible tag characters, except in the flags of England, Scotland and Wales.

    Tag characters that form text are critical.
    """
    for line in _lines_beyond_ascii(text, _TAGS):
        without_flags = _FLAGS.sub(lambda flag: " " * len(flag.group()), line.text)
        if found := _TAGS.search(without_flags):
            hidden_text = "".join(chr(ord(one) - 0xE0000) for one in found.group())
            is_text = sum(" " <= one <= "~" for one in hidden_text) >= 4
            quoted = quote(f"‹tags: {hidden_text}›", 0, 0) if is_text else ""
            yield CheckHit(
                line, found.start(), found.end(), "critical" if is_text else "medium", is_text, quoted
            )


_ZERO_WIDTHS = re.compile(
    "[\u200b-\u200d\u2060-\u2064\u180e\ufeff\u034f\U000e0100-\U000e01ef]+|[\ufe00-\ufe0f]{2,}"
)
_JOINERS = frozenset("\u200c\u200d")
_LONG_RUN = 8  # length of a run that can encode a letter as eight bits


def look_for_zero_widths(text: ScannedText) -> Iterator[CheckHit]:
    """Finds runs of zero-width characters, which can encode hidden text or split words to evade searches."""
    for line in _lines_beyond_ascii(text, _ZERO_WIDTHS):
        runs = [
            (found, severity)
            for found in _ZERO_WIDTHS.finditer(line.text)
            if (severity := _run_severity(found))
        ]
        if runs:
            is_many = sum(len(found.group()) for found, _severity in runs) >= 2 * _LONG_RUN
            found, severity = max(runs, key=lambda run: SEVERITIES.index(run[1]))
            severity = "critical" if is_many else severity
            yield CheckHit(line, found.start(), found.end(), severity, severity == "critical")


def _run_severity(found: re.Match[str]) -> Severity | None:
    line, (start, end) = found.string, found.span()
    run, before, after = found.group(), line[max(start - 1, 0) : start], line[end : end + 1]
    if len(run) >= _LONG_RUN:
        return "critical"
    if len(run) == 1 and run in _JOINERS and (_joins(before) or _joins(after)):
        return None
    if "\U000e0100" <= run[0] <= "\U000e01ef" and len(run) == 1:
        return None  # allowed: selects a variant of an ideograph
    splits = before.isascii() and after.isascii() and before.isalpha() and after.isalpha()
    return "medium" if len(run) >= 3 or splits else "low"


def _joins(character: str) -> bool:
    """Whether a zero-width joiner is normal next to the character.

    True for emoji, scripts such as Arabic or Devanagari, and all characters above U+2000.
    """
    if not character:
        return False
    point = ord(character)
    return (
        point > 0x2000 or 0x0590 <= point <= 0x18AF or unicodedata.category(character) in ("So", "Mn", "Mc")
    )


_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDES = frozenset("\u202d\u202e")


def look_for_directions(text: ScannedText) -> Iterator[CheckHit]:
    """Finds direction marks, which can reorder a displayed line.

    Lines with right-to-left text may contain them, except overrides in code.
    """
    for line in _lines_beyond_ascii(text, _DIRECTIONS):
        found = _DIRECTIONS.search(line.text)
        if found is None:
            continue
        overrides = bool(_OVERRIDES & set(line.text))
        if _is_right_to_left(line.text) and not (overrides and not text.is_prose):
            continue
        severity: Severity = "critical" if overrides and not text.is_prose else "high" if overrides else "low"
        yield CheckHit(line, found.start(), found.end(), severity, severity == "critical")


def _is_right_to_left(line: str) -> bool:
    return any(unicodedata.bidirectional(one) in ("R", "AL") for one in line)


def _lines_beyond_ascii(text: ScannedText, pattern: re.Pattern[str]) -> Iterator[SourceLine]:
    if not text.raw.isascii() and pattern.search(text.raw):
        for number, row in enumerate(text.rows, 1):
            if not row.isascii():
                yield from text.pieces(number)


_INVISIBLE = _("The text contains characters that are invisible to readers but visible to agents.")
CHECKS = (
    Check(
        "tag-characters",
        _("The text hides other text in invisible characters."),
        _("Delete the characters; an editor that shows code points can find them."),
        look_for_tags,
        counts_in_comments=True,
    ),
    Check(
        "zero-width",
        _INVISIBLE,
        _("Delete the characters; an editor that shows code points can find them."),
        look_for_zero_widths,
        counts_in_comments=True,
    ),
    Check(
        "bidi-override",
        _("Text direction marks hide the real order of the characters in this line."),
        _("Delete the marks; in code, right-to-left text is displayed correctly without them."),
        look_for_directions,
        counts_in_comments=True,
    ),
)
