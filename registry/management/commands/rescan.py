"""``manage.py rescan``: versions that were scanned with other rules than today's are scanned again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import reviewing
from registry.packages.problems import refuse
from registry.shell import ShellCommand

_AT_ONCE = 100


class Command(ShellCommand):
    help = "Scan again what was scanned with other rules; the reaper does it, too, a few at a time."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="at most N versions")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        if not actor.is_administrator:
            raise refuse("FORBIDDEN", action="rescan")
        done: list[reviewing.Rescanned] = []
        left = options["limit"] if options["limit"] is not None else reviewing.stale().count()
        while left > 0 and (some := reviewing.rescan_some(actor, most=min(left, _AT_ONCE))):
            done += some
            left -= len(some)
        held = [str(one.version) for one in done if one.held]
        freed = [str(one.version) for one in done if one.freed]
        document = {"ok": True, "scanned": len(done), "held": held, "freed": freed}
        lines = [
            f"{len(done)} scanned",
            *(f"held   {one}" for one in held),
            *(f"freed  {one}" for one in freed),
        ]
        self.answer(document, lines, as_json=options["json"], ok=True)
