"""``manage.py prepare TEAM/SLUG@VERSION``: what it depends on, made now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from registry.catalog import find_named
from registry.shell import ShellCommand
from worker.dependencies import making, queue
from worker.dependencies.preparing import preparation_document, prepare_again


class Command(ShellCommand):
    help = (
        "Make what a version depends on, in this process; what is ready stays. Exit status 1 where it fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION")
        parser.add_argument("--show", action="store_true", help="only say how it stands")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        version = find_named(options["version"], actor)
        if not options["show"]:
            for row in prepare_again(version, actor):
                if hold := queue.claim(row.key, timezone.now()):
                    making.make(hold)
        document = preparation_document(version, actor)
        self.answer(document, _lines(document), as_json=options["json"], ok=document["state"] != "failed")


def _lines(document: dict[str, Any]) -> list[str]:
    lines = [f"{document['version']}: {document['state']}"]
    for row in document["preparations"]:
        lines.append(f"  {row['kind']}, {row['platform']}: {row['state']}, {row['size']} bytes")
        lines += [f"    {each['name']} {each['version']} {each['hash']}" for each in row["packages"]]
        if row["problem"]:
            problem = row["problem"]
            lines += [f"    {problem['code']} {problem['message']}", f"    {problem['remedy']}"]
            lines += [f"    | {line}" for line in row["log"].splitlines()[-20:]]
    return lines
