"""``manage.py rescan_versions``: scans the versions whose last scan used older rules."""

from typing import Any

from django.core.management.base import CommandParser

from registry.identity.errors import FORBIDDEN
from registry.management.cli import ShellCommand
from registry.review import findings

_BATCH = 100


class Command(ShellCommand):
    help = "Scan the versions again whose last scan used older rules."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="scan at most N versions")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        if not actor.is_administrator:
            raise FORBIDDEN.refusal(action="rescan")
        rescanned: list[findings.RescanResult] = []
        left = options["limit"] if options["limit"] is not None else findings.stale_versions().count()
        while left > 0 and (some := findings.rescan_batch(actor, limit=min(left, _BATCH))):
            rescanned += some
            left -= len(some)
        held = [str(one.version) for one in rescanned if one.held]
        freed = [str(one.version) for one in rescanned if one.freed]
        document = {"ok": True, "scanned": len(rescanned), "held": held, "freed": freed}
        lines = [
            f"{len(rescanned)} scanned",
            *(f"held   {one}" for one in held),
            *(f"freed  {one}" for one in freed),
        ]
        self.answer(document, lines, as_json=options["json"], ok=True)
