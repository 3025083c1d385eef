"""Presents a comparison of two versions: labels for changes, and lines as safe HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.presenters.content.text import mark_hidden
from portal.presenters.skill.permissions import PERMISSION_LABELS
from registry.packages.compare.lines import DiffLine, DiffSection, LineSegment, TextComparison
from registry.packages.compare.permission_set import PermissionSet
from registry.packages.compare.schemas import SchemaChange
from registry.packages.compare.versions import AbilityChange, Comparison
from registry.versions.content.compare import FileDiff, translate_reason
from worker.core.display_budget import MAX_TEXT, line_limit

MAX_FOLDED_LINES = 300  # longer groups of unchanged lines are omitted
_ABOUT: dict[str, Promise] = {
    **PERMISSION_LABELS,
    "timeout_ms": _("Time limit (ms)"),
    "memory_mb": _("Memory limit (MB)"),
    "scripts": _("Scripts"),
    "libraries": _("Libraries added by maintainers"),
    "abp_tools": _("Tools that the skill offers"),
    "entry": _("Entry point"),
    "type": _("Type"),
    "protocol": _("Script protocol"),
    "context": _("Context"),
}
_EFFECTS: dict[str, tuple[str, Promise]] = {
    "breaking": ("bad", _("breaking")),
    "unclear": ("warn", _("unclear")),
    "compatible": ("ok", _("compatible")),
}
_KINDS: dict[str, tuple[str, Promise]] = {
    "added": ("ok", _("added")),
    "removed": ("bad", _("removed")),
    "changed": ("info", _("changed")),
    "renamed": ("quiet", _("renamed")),
}


@dataclass(frozen=True)
class LineGroup:
    """Consecutive lines; ``html`` is empty for more than ``MAX_FOLDED_LINES`` folded lines."""

    count: int
    folded: bool
    html: SafeString


def abilities(found: Comparison) -> list[tuple[str, AbilityChange]]:
    return [(str(_ABOUT[change.name]), change) for change in found.abilities]


def permissions(found: PermissionSet) -> list[tuple[str, list[str]]]:
    """Pairs of label and sorted names, one for each kind of permission in the set."""
    return [(str(_ABOUT[about]), sorted(names)) for about, names in vars(found).items() if names]


def schemas(found: Comparison) -> list[dict[str, Any]]:
    """The changes of the schemas of inputs, output and tools: dicts with title and rows."""
    named = [(gettext("Inputs"), found.inputs), (gettext("Output"), found.outputs)]
    named += [(gettext("Tool %(name)s") % {"name": one.tool}, one.changes) for one in found.tools]
    return [{"title": title, "rows": list(map(_row, changes))} for title, changes in named if changes]


def _row(change: SchemaChange) -> dict[str, Any]:
    tone, effect = _EFFECTS[change.effect]
    reason = translate_reason(change.reason, gettext)
    return {"place": change.pointer, "tone": tone, "effect": effect, "reason": reason}


def files(diffs: Iterator[FileDiff]) -> list[dict[str, Any]]:
    """The changed files; long lines are cut to about ``2 * MAX_TEXT`` characters in all files together."""
    rows, left = [], 2 * MAX_TEXT
    for number, diff in enumerate(diffs, start=1):
        rows.append(_file(number, diff, left))
        left -= sum(_lengths(diff.comparison)) if diff.comparison else 0
    return rows


def _file(number: int, diff: FileDiff, max_text: int) -> dict[str, Any]:
    """A changed file with the anchor ``f<number>``. If ``later`` is set, its lines are on a separate page."""
    tone, kind = _KINDS[diff.change.kind]
    row: dict[str, Any] = {"number": number, "change": diff.change, "tone": tone, "kind": kind}
    found = diff.comparison
    if found is None or found.too_large:
        return row | {"no_diff_reason": _no_diff_reason(diff), "later": diff.later}
    parts = line_groups(found, f"f{number}", max_text)
    return row | {"parts": parts, "removed": found.removed, "added": found.added}


def _no_diff_reason(diff: FileDiff) -> str:
    if diff.comparison:
        return gettext("Too large to compare line by line.")
    if diff.later:
        return ""
    if not diff.change.is_text:
        return gettext("Not a text file.")
    if diff.change.kind == "renamed":
        return ""
    before, after = diff.change.before, diff.change.after
    if before and after and before.executable != after.executable:
        return (
            gettext("Same content; now executable.")
            if after.executable
            else gettext("Same content; no longer executable.")
        )
    return gettext("Same content.")


def line_groups(found: TextComparison, anchor: str, max_text: int = MAX_TEXT) -> tuple[LineGroup, ...]:
    """The lines of a comparison; anchors are ``<anchor>L<n>`` (earlier) and ``<anchor>R<n>`` (later).

    If the lines have more than ``max_text`` characters in all, long lines are cut.
    """
    limit = line_limit(_lengths(found), at_most=max_text, longest=max(max_text, 100))
    return tuple(_line_group(anchor, stretch, limit) for stretch in found.sections)


def _lengths(found: TextComparison) -> list[int]:
    lines = [line for stretch in found.sections for line in stretch.lines]
    return [sum(len(piece.text) for piece in side) for line in lines for side in (line.before, line.after)]


def _line_group(anchor: str, stretch: DiffSection, limit: int) -> LineGroup:
    count = len(stretch.lines) + stretch.omitted
    hidden = stretch.folded and count > MAX_FOLDED_LINES
    html = "" if hidden else "".join(_line(anchor, line, limit) for line in stretch.lines)
    return LineGroup(count, stretch.folded, mark_safe(html))


def _line(file: str, line: DiffLine, limit: int) -> str:
    same = line.kind == "same"
    before = _side(f"{file}L", line.before_number, line.before, "code" if same else "del", limit)
    after = _side(f"{file}R", line.after_number, line.after, "code" if same else "ins", limit)
    return f"<div{' class=same' if same else ''}>{before}{after}</div>"


def _side(anchor: str, number: int | None, pieces: tuple[LineSegment, ...], element: str, limit: int) -> str:
    if number is None:
        return "<i></i><i></i>"
    marked = ""
    for piece in pieces:
        text = escape(piece.text if len(piece.text) <= limit else f"{piece.text[:limit]}…")
        marked += f"<mark>{text}</mark>" if piece.changed else text
        limit = max(0, limit - len(piece.text))
    place = f"{anchor}{number}"
    return f'<a id="{place}" href="#{place}">{number}</a><{element}>{mark_hidden(marked)}</{element}>'
