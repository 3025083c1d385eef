"""Presents a comparison of two versions: labels for changes, and lines as safe HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.html import escape, format_html
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

MAX_FOLDED_LINES = 300  # unchanged lines in one folded group; longer groups are left out
_ABOUT: dict[str, Promise] = {
    **PERMISSION_LABELS,
    "timeout_ms": _("Time limit (ms)"),
    "memory_mb": _("Memory limit (MB)"),
    "scripts": _("Scripts"),
    "abp_tools": _("Provided tools"),
    "entry": _("Entry"),
    "type": _("Type"),
    "protocol": _("Protocol"),
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
    """Consecutive lines; ``html`` is empty if too many are folded."""

    count: int
    folded: bool
    html: SafeString


def abilities(found: Comparison) -> list[tuple[str, AbilityChange]]:
    return [(str(_ABOUT[change.name]), change) for change in found.abilities]


def permissions(found: PermissionSet) -> list[tuple[str, list[str]]]:
    """Each kind of requested permission: label and names."""
    return [(str(_ABOUT[about]), sorted(names)) for about, names in vars(found).items() if names]


def schemas(found: Comparison) -> list[dict[str, Any]]:
    """The inputs, the output and the tools whose schemas changed."""
    named = [(gettext("Inputs"), found.inputs), (gettext("Output"), found.outputs)]
    named += [(gettext("Tool %(name)s") % {"name": one.tool}, one.changes) for one in found.tools]
    return [{"title": title, "rows": list(map(_row, changes))} for title, changes in named if changes]


def _row(change: SchemaChange) -> dict[str, Any]:
    tone, effect = _EFFECTS[change.effect]
    reason = translate_reason(change.reason, gettext)
    return {"place": change.pointer, "tone": tone, "effect": effect, "reason": reason}


def files(diffs: Iterator[FileDiff]) -> list[dict[str, Any]]:
    return [_file(number, diff) for number, diff in enumerate(diffs, start=1)]


def _file(number: int, diff: FileDiff) -> dict[str, Any]:
    """A changed file, whose anchor is ``f<number>``; with ``later``, its lines are on a separate page."""
    tone, kind = _KINDS[diff.change.kind]
    row: dict[str, Any] = {"number": number, "change": diff.change, "tone": tone, "kind": kind}
    found = diff.comparison
    if found is None or found.too_large:
        return row | {"no_diff_reason": _no_diff_reason(diff), "later": diff.later}
    return row | {"parts": line_groups(found, f"f{number}"), "removed": found.removed, "added": found.added}


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


def line_groups(found: TextComparison, anchor: str) -> tuple[LineGroup, ...]:
    """The lines of a comparison; anchors are ``<anchor>L<n>`` (earlier) and ``<anchor>R<n>`` (later)."""
    return tuple(_line_group(anchor, stretch) for stretch in found.sections)


def _line_group(anchor: str, stretch: DiffSection) -> LineGroup:
    count = len(stretch.lines) + stretch.omitted
    hidden = stretch.folded and count > MAX_FOLDED_LINES
    html = "" if hidden else "".join(_line(anchor, line) for line in stretch.lines)
    return LineGroup(count, stretch.folded, mark_safe(html))


def _line(file: str, line: DiffLine) -> str:
    same = line.kind == "same"
    before = _side(f"{file}L", line.before_number, line.before, "code" if same else "del")
    after = _side(f"{file}R", line.after_number, line.after, "code" if same else "ins")
    return f"<div{' class=same' if same else ''}>{before}{after}</div>"


def _side(anchor: str, number: int | None, pieces: tuple[LineSegment, ...], element: str) -> str:
    if number is None:
        return "<i></i><i></i>"
    marked = "".join(_piece(piece) for piece in pieces)
    place = f"{anchor}{number}"
    return f'<a id="{place}" href="#{place}">{number}</a><{element}>{marked}</{element}>'


def _piece(piece: LineSegment) -> SafeString:
    html = mark_safe(mark_hidden(str(escape(piece.text))))
    return format_html("<mark>{}</mark>", html) if piece.changed else html
