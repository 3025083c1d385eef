"""``manage.py reports``: what people say is wrong with versions, and what becomes of it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import reporting
from registry.actors import Actor
from registry.api.reports import report_document
from registry.catalog import find_named
from registry.models import Report, ReportReason
from registry.shell import WRONG_CALL, ShellCommand, exact


class Command(ShellCommand):
    help = "Report a version, decide a report, or list those of a version; without one, all that are open."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("version", metavar="TEAM/SLUG@VERSION", nargs="?", default="")
        deeds = parser.add_mutually_exclusive_group()
        deeds.add_argument("--report", choices=ReportReason.values, help="say what is wrong with it")
        deeds.add_argument("--dismiss", metavar="ID", help="nothing is wrong")
        deeds.add_argument("--uphold", metavar="ID", help="it is so: the version is held")
        parser.add_argument("--text", default="", help="for --report: what exactly")
        parser.add_argument("--reason", default="", help="for --dismiss and --uphold")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        if not options["version"]:
            if options["report"] or options["dismiss"] or options["uphold"]:
                raise CommandError("Say which version: TEAM/SLUG@VERSION.", returncode=WRONG_CALL)
            rows = list(reporting.open_reports(actor))
        else:
            rows = self._of_version(actor, options)
        lines = [f"{row.uid}  {row.state}  {row.reason}  {row.version}  {row.text}" for row in rows]
        self.answer(
            {"ok": True, "reports": [report_document(row) for row in rows]},
            lines or ["nothing is reported"],
            as_json=options["json"],
            ok=True,
        )

    def _of_version(self, actor: Actor, options: dict[str, Any]) -> list[Report]:
        version = find_named(exact(options["version"]), actor, even_held=True)
        if options["report"]:
            return [reporting.report(version, actor, reason=options["report"], text=options["text"])]
        if uid := options["dismiss"] or options["uphold"]:
            verb = reporting.dismiss if options["dismiss"] else reporting.uphold
            return [verb(reporting.find_report(version, uid, actor), actor, reason=options["reason"])]
        return list(reporting.of_version(version, actor))
