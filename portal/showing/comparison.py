"""A comparison of two versions as its page shows it: words for what changed, lines as harmless HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.showing.texts import mark_hidden
from registry.comparing import Text, said
from registry.packages.comparison import AbilityChange, Comparison, FileChange
from registry.packages.comparison_lines import Line, Piece, Stretch, TextComparison
from registry.packages.comparison_schemas import SchemaChange
from registry.packages.permission_set import PermissionSet

MOST_UNFOLDED = 300  # unchanged lines that a page holds folded; more are read in the file itself
_ABOUT: dict[str, Promise] = {
    "hosts": _("Network"),
    "filesystem": _("Files"),
    "environment": _("Environment"),
    "secrets": _("Secrets"),
    "tools": _("Tools of the agent"),
    "skills": _("Other skills that it starts"),
    "hooks": _("Hooks"),
    "shell": _("Shell"),
    "timeout_ms": _("Time limit in ms"),
    "memory_mb": _("Memory limit in MB"),
    "scripts": _("Scripts"),
    "abp_tools": _("Tools that it offers"),
    "entry": _("What is started"),
    "type": _("Type"),
    "protocol": _("Protocol"),
    "context": _("Context"),
}
_EFFECTS: dict[str, tuple[str, Promise]] = {
    "breaking": ("bad", _("breaking")),
    "unclear": ("warn", _("look at it")),
    "compatible": ("ok", _("compatible")),
}
_KINDS: dict[str, tuple[str, Promise]] = {
    "added": ("ok", _("added")),
    "removed": ("bad", _("removed")),
    "changed": ("info", _("changed")),
    "renamed": ("quiet", _("renamed")),
}


@dataclass(frozen=True)
class Row:
    """One line about a schema."""

    place: str
    tone: str
    effect: str
    reason: str


@dataclass(frozen=True)
class Schema:
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Part:
    """Lines that follow one another; ``html`` is empty where too many are folded."""

    count: int
    folded: bool
    html: SafeString


@dataclass(frozen=True)
class File:
    """A changed file: its place on the page is ``#f<number>``."""

    number: int
    change: FileChange
    tone: str
    kind: str
    parts: tuple[Part, ...]
    why_not: str  # why no lines are shown
    later: bool  # its lines are shown on a page of their own
    removed: int = 0
    added: int = 0


def abilities(found: Comparison) -> list[tuple[str, AbilityChange]]:
    return [(str(_ABOUT[change.about]), change) for change in found.abilities]


def permissions(found: PermissionSet) -> list[tuple[str, list[str]]]:
    """Each thing that is asked for, with its label."""
    return [(str(_ABOUT[about]), sorted(names)) for about, names in vars(found).items() if names]


def schemas(found: Comparison) -> list[Schema]:
    """The inputs, the output and the tools whose schemas changed."""
    named = [(gettext("Inputs"), found.inputs), (gettext("Output"), found.outputs)]
    named += [(gettext("Tool %(name)s") % {"name": one.tool}, one.changes) for one in found.tools]
    return [Schema(title, tuple(map(_row, changes))) for title, changes in named if changes]


def _row(change: SchemaChange) -> Row:
    tone, effect = _EFFECTS[change.effect]
    return Row(change.place, tone, str(effect), said(change.reason, gettext))


def files(texts: Iterator[Text]) -> list[File]:
    return [_file(number, text) for number, text in enumerate(texts, start=1)]


def _file(number: int, text: Text) -> File:
    tone, kind = _KINDS[text.change.kind]
    found = text.comparison
    if found is None or found.too_large:
        return File(number, text.change, tone, str(kind), (), _why_not(text), text.later)
    parts = parts_of(found, f"f{number}")
    return File(number, text.change, tone, str(kind), parts, "", False, found.removed, found.added)


def _why_not(text: Text) -> str:
    if text.comparison:
        return gettext("It is too large to be compared line by line.")
    if text.later:
        return ""
    if not text.change.is_text:
        return gettext("It is not text.")
    if text.change.kind == "renamed":
        return ""
    before, after = text.change.before, text.change.after
    if before and after and before.executable != after.executable:
        return (
            gettext("Its bytes are the same; it may be executed now.")
            if after.executable
            else gettext("Its bytes are the same; it may not be executed any more.")
        )
    return gettext("Its bytes are the same.")


def parts_of(found: TextComparison, anchor: str) -> tuple[Part, ...]:
    """The lines of a comparison; each is found at ``anchor``, L or R and its number."""
    return tuple(_part(anchor, stretch) for stretch in found.stretches)


def _part(anchor: str, stretch: Stretch) -> Part:
    hidden = stretch.folded and len(stretch.lines) > MOST_UNFOLDED
    html = "" if hidden else "".join(_line(anchor, line) for line in stretch.lines)
    return Part(len(stretch.lines), stretch.folded, mark_safe(html))


def _line(file: str, line: Line) -> str:
    same = line.kind == "same"
    before = _half(f"{file}L", line.before_number, line.before, "code" if same else "del")
    after = _half(f"{file}R", line.after_number, line.after, "code" if same else "ins")
    return f"<div{' class=same' if same else ''}>{before}{after}</div>"


def _half(anchor: str, number: int | None, pieces: tuple[Piece, ...], element: str) -> str:
    if number is None:
        return "<i></i><i></i>"
    marked = "".join(_piece(piece) for piece in pieces)
    place = f"{anchor}{number}"
    return f'<a id="{place}" href="#{place}">{number}</a><{element}>{marked}</{element}>'


def _piece(piece: Piece) -> SafeString:
    html = mark_safe(mark_hidden(str(escape(piece.text))))
    return format_html("<mark>{}</mark>", html) if piece.changed else html
