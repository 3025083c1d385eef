from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.glossary import editing
from registry.glossary.documents import built_in_lines, entry_document
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Words that mean the same: the lines in which TEXT stands, or a change of the site's own."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT", nargs="?", default="")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--add", metavar="LINE", help="such as 'invoice, receipt, 发票'")
        which.add_argument("--change", nargs=2, metavar=("ID", "LINE"))
        which.add_argument("--remove", metavar="ID")
        which.add_argument("--undo", metavar="CHANGE", help="the change that an earlier call answered")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if options["add"] is not None:
            entry, done = editing.add(options["add"], actor)
            return {"entry": entry_document(entry), "change": done.uid}
        if options["change"]:
            uid, line = options["change"]
            entry, done = editing.change(editing.find_entry(uid, actor), line, actor)
            return {"entry": entry_document(entry), "change": done.uid}
        if options["remove"]:
            return {"change": editing.remove(editing.find_entry(options["remove"], actor), actor).uid}
        if options["undo"]:
            return {"change": editing.undo(options["undo"], actor).uid}
        own = editing.entries(actor, find=options["text"])
        return {
            "entries": [entry_document(entry) for entry in own],
            "built_in": [asdict(line) for line in built_in_lines(find=options["text"])],
        }
