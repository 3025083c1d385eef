"""``manage.py choose_runtime TEAM/SLUG@VERSION NAME``: sets or removes the runtime of a version."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.lookup.skills import find_version_by_label
from registry.management.cli import ShellCommand
from worker.dependencies.runtimes.choice import choose_runtime
from worker.dependencies.status import dependencies_document


class Command(ShellCommand):
    help = "Set or remove the runtime of a version whose package declares none."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION", help="the version")
        parser.add_argument("runtime", metavar="NAME", help="the runtime, such as office; none removes it")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        version = find_version_by_label(options["version"], actor)
        choose_runtime(version, "" if options["runtime"] == "none" else options["runtime"], actor)
        document = dependencies_document(version, actor)
        line = f"{version}: {document['runtime']['name'] or 'no runtime'}, {document['state']}"
        self.answer(document, [line], as_json=options["json"], ok=True)
