"""``manage.py build_dependencies TEAM/SLUG@VERSION``: builds a version's dependencies without a worker."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from registry.lookup.skills import find_version_by_label
from registry.management.cli import ShellCommand
from worker.dependencies import build, queue
from worker.dependencies.status import dependencies_document, rebuild_dependencies


class Command(ShellCommand):
    help = "Build the missing dependencies of a version in this process."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION", help="the version")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        version = find_version_by_label(options["version"], actor)
        for row in rebuild_dependencies(version, actor):
            if lease := queue.claim(row.key, timezone.now()):
                build.run_build(lease)
        document = dependencies_document(version, actor)
        self.answer(document, _lines(document), as_json=options["json"], ok=document["state"] != "failed")


def _lines(document: dict[str, Any]) -> list[str]:
    lines = [f"{document['version']}: {document['state']}"]
    for row in document["builds"]:
        lines.append(f"  {row['kind']}, {row['platform']}: {row['state']}, {row['size']} bytes")
        lines += [f"    {each['name']} {each['version']} {each['hash']}" for each in row["packages"]]
        if row["problem"]:
            problem = row["problem"]
            lines += [f"    {problem['code']} {problem['message']}", f"    {problem['remedy']}"]
            lines += [f"    | {line}" for line in row["log"].splitlines()[-20:]]
    return lines
