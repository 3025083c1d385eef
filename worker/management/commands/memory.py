from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.shell import ChangeCommand
from worker.memory import finding, reviewing
from worker.memory.documents import memory_document, write_document
from worker.memory.reviewing import Decision
from worker.memory.store import Wanted, store
from worker.models import MemoryType


class Command(ChangeCommand):
    help = "What runs left to remember: found, exported, deleted; what waits: accepted or declined."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT", nargs="?", default="", help="words to find")
        parser.add_argument("--owner", default="", help="me, a team's slug, or run:ID")
        parser.add_argument("--type", action="append", choices=MemoryType.values, default=[])
        parser.add_argument("--skill", metavar="TEAM/SLUG", default="")
        parser.add_argument("--importance", type=int, choices=range(1, 6), default=1, help="at least")
        parser.add_argument("--limit", type=int, default=100)
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--export", action="store_true", help="all of it")
        which.add_argument("--delete", nargs="+", metavar="ID")
        which.add_argument("--delete-all", action="store_true", help="of the owner")
        which.add_argument("--restore", nargs="+", metavar="ID")
        which.add_argument("--waiting", action="store_true", help="what waits for a decision")
        which.add_argument("--accept", nargs="+", metavar="ID")
        which.add_argument("--decline", nargs="+", metavar="ID")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if uids := options["accept"] or options["decline"]:
            return {"decided": [_decided(uid, options, actor) for uid in uids]}
        if options["delete"]:
            for memory in [finding.find_memory(uid, actor) for uid in options["delete"]]:
                finding.delete(memory, actor)
            return {"deleted": len(options["delete"])}
        if options["restore"]:
            return {"memories": [memory_document(finding.restore(uid, actor)) for uid in options["restore"]]}
        owner = finding.find_owner(options["owner"], actor) if options["owner"] else None
        if options["delete_all"]:
            return {"deleted": finding.delete_all(owner or finding.find_owner("me", actor), actor)}
        if options["waiting"]:
            rows = reviewing.queue(actor, owner)[: options["limit"]]
            return {"waiting": [write_document(row, actor=actor) for row in rows]}
        types = frozenset(options["type"])
        wanted = Wanted(actor, owner, types, options["skill"], options["importance"])
        return {"memories": _found(wanted, options)}


def _decided(uid: str, options: dict[str, Any], actor: Actor) -> dict[str, Any]:
    write = reviewing.find_write(uid, actor)
    decided = reviewing.decide(write, Decision(bool(options["accept"])), actor)
    return write_document(decided, actor=actor)


def _found(wanted: Wanted, options: dict[str, Any]) -> list[dict[str, Any]]:
    if options["export"]:
        return list(store().export(wanted))
    most = max(options["limit"], 1)
    if options["text"]:
        return [memory_document(row) for row in store().search(options["text"], wanted, most=most)]
    return [memory_document(row) for row in store().list(wanted).order_by("-pk")[:most]]
