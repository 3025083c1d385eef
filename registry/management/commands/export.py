from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from registry import exporting
from registry.catalog import find_skill, find_version
from registry.packages.repack import digest_of
from registry.permissions import Action, require
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Write a version out: into a folder of its name below TARGET, or into TARGET where that is a .zip."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("target", metavar="TARGET", type=Path)
        parser.add_argument(
            "--portable", action="store_true", help="in the open format, which other clients accept"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        document = self._export(options)
        line = f"{document['skill']}@{document['version']}  {document['path']}"
        self.answer(document, [line], as_json=options["json"], ok=True)

    def _export(self, options: dict[str, Any]) -> dict[str, Any]:
        actor = self.actor(options)
        label, _, number = options["skill"].partition("@")
        version = find_version(find_skill(label, actor), number or None, actor)
        require(actor, Action.INSTALL, skill=version.skill)
        archive = exporting.archive_of(version, in_open_format=options["portable"])
        path = exporting.write(archive, options["target"])
        return {
            "ok": True,
            "skill": str(version.skill),
            "version": version.number,
            "digest": digest_of(archive),
            "path": str(path),
            "problems": [],
        }
