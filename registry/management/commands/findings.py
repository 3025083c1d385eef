"""``manage.py findings``: what scans found in a version, and what maintainers say to it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import reviewing
from registry.actors import Actor
from registry.api.findings import finding_document, held_document
from registry.catalog import find_skill, find_version
from registry.models import Version
from registry.scanning import findings_of
from registry.shell import WRONG_CALL, ShellCommand

_DEEDS = ("suppress", "unsuppress", "release")


class Command(ShellCommand):
    help = "A version's findings, or the versions that are held. Who published a version does not release it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION", nargs="?", default="")
        deeds = parser.add_mutually_exclusive_group()
        deeds.add_argument("--suppress", metavar="ID", help="the finding of that id is harmless")
        deeds.add_argument("--unsuppress", metavar="ID")
        deeds.add_argument("--release", action="store_true", help="let the held version go")
        parser.add_argument("--reason", default="", help="for --suppress and --release")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        if not options["version"]:
            if any(options[deed] for deed in _DEEDS):
                raise CommandError("Say which version: TEAM/SLUG@VERSION.", returncode=WRONG_CALL)
            return self._held(actor, options)
        return self._findings(self._judged(actor, options), options)

    def _judged(self, actor: Actor, options: dict[str, Any]) -> Version:
        label, _at, number = options["version"].partition("@")
        version = find_version(find_skill(label, actor), number, actor, even_held=True)
        if options["suppress"]:
            finding = reviewing.find_finding(version, options["suppress"])
            reviewing.suppress(finding, actor, reason=options["reason"])
        elif options["unsuppress"]:
            reviewing.unsuppress(reviewing.find_finding(version, options["unsuppress"]), actor)
        elif options["release"]:
            version = reviewing.release(version, actor, reason=options["reason"])
        return version

    def _held(self, actor: Actor, options: dict[str, Any]) -> None:
        held = [held_document(version) for version in reviewing.held_versions(actor)]
        lines = [f"held {row['skill']}@{row['version']}  {', '.join(row['rules'])}" for row in held]
        self.answer(
            {"ok": True, "held": held}, lines or ["nothing is held"], as_json=options["json"], ok=True
        )

    def _findings(self, version: Version, options: dict[str, Any]) -> None:
        rows = [finding_document(one) for one in findings_of(version)]
        lines = [
            f"{row['id']}  {row['severity']}{' certain' if row['certain'] else ''}  {row['rule']}  "
            f"{row['path']}:{row['line'] or '-'} {row['quote']}{' (suppressed)' if row['suppressed'] else ''}"
            for row in rows
        ]
        document = {"ok": True, "version": str(version), "held": version.is_held, "findings": rows}
        self.answer(
            document,
            [f"{version}{'  held' if version.is_held else ''}", *lines],
            as_json=options["json"],
            ok=True,
        )
