from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry.actors import Actor
from registry.api.canonical_documents import canonical_document, change_document, files_address
from registry.canonical import PREFIX, setting, text_of
from registry.catalog import find_skill, find_version
from registry.models import UseKind
from registry.packages.problems import Refused
from registry.shell import ShellCommand, problem_line
from registry.usage import record_use


class Command(ShellCommand):
    help = "List the canonical skills, or print one's text or history."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", nargs="?", metavar="SLUG", help="with or without _canonical_")
        parser.add_argument(
            "--history", action="store_true", help="who changed it, when, from what to what, why"
        )
        parser.add_argument("--dir", default="", help="where you have its files, for its text")

    def handle(self, *args: Any, **options: Any) -> None:
        actor, slug = self.actor(options), (options["slug"] or "").removeprefix(PREFIX)
        try:
            if not slug:
                document, lines = _listed(actor)
            elif options["history"]:
                document, lines = _history(slug, actor)
            else:
                document, lines = _text(slug, actor, options["dir"])
        except Refused as refused:
            document = {"problems": [each.document(gettext) for each in refused.problems]}
            lines = map(problem_line, refused.problems)
        ok = "problems" not in document
        self.answer({"ok": ok, **document}, lines, as_json=options["json"], ok=ok)


def _listed(actor: Actor) -> tuple[dict[str, Any], Iterable[str]]:
    setter = setting.is_setter(actor)
    rows = [canonical_document(row, is_setter=setter) for row in setting.known_to(actor)]
    return {"canonical": rows}, [_line(row) for row in rows] or ["No skill is canonical."]


def _line(row: dict[str, Any]) -> str:
    pinned, waits = row["pinned"], row["waiting"]
    said = f"{pinned['skill']}@{pinned['version']} {pinned['digest']}" if pinned else "nothing accepted yet"
    notes = [f"unavailable: {row['unavailable']}"] if row["unavailable"] else []
    notes += [f"waits: {waits['skill']}@{waits['version']} {waits['digest']}"] if waits else []
    return "  ".join([row["name"], said, *notes])


def _history(slug: str, actor: Actor) -> tuple[dict[str, Any], Iterable[str]]:
    setting.require_setter(slug, actor)
    rows = [change_document(change) for change in setting.history(slug)]
    lines = [
        f"{row['at']}  {row['deed']}  {row['by'] or '-'}  {row['before'] or '-'} -> {row['after'] or '-'}  "
        f"{row['reason']}"
        for row in rows
    ]
    return {"history": rows}, lines


def _text(slug: str, actor: Actor, place: str) -> tuple[dict[str, Any], Iterable[str]]:
    skill = find_skill(PREFIX + slug, actor)
    version = find_version(skill, None, actor)
    text = text_of(version, place or files_address(version))
    record_use(skill, actor.caller, UseKind.LOAD, version=version.number)
    return {"version": str(version), "digest": version.digest, "text": text}, [text]
