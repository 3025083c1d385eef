"""``manage.py sources``: what teams import from, and how far it and its skills have gone apart."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry.actors import Actor
from registry.api.imports import drift_document, source_document
from registry.imports import sources
from registry.imports.drift import drift
from registry.models import Source
from registry.packages.problems import Problem, Refused
from registry.shell import ShellCommand, problem_line


class Command(ShellCommand):
    help = "List the sources that teams import from, look whether they have gone on, or forget some."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("ids", metavar="ID", nargs="*", help="of sources; all that are visible, if none")
        parser.add_argument("--team", metavar="T", default="")
        parser.add_argument("--look", action="store_true", help="ask each repository what it is at now")
        parser.add_argument("--forget", metavar="ID", action="append", default=[], help="its skills stay")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        rows, problems = [], []
        try:
            for uid in options["forget"]:
                sources.remove(sources.find(uid, actor), actor)
            found = _chosen(options, actor)
        except Refused as refused:
            found, problems = [], [*refused.problems]
        for source in found:
            row, against = _row(source, actor, look=options["look"])
            rows.append(row)
            problems += against
        document = {
            "ok": not problems,
            "sources": rows,
            "problems": [problem.document(gettext) for problem in problems],
        }
        lines = [*map(_line, rows), *map(problem_line, problems)]
        self.answer(document, lines, as_json=options["json"], ok=not problems)


def _chosen(options: dict[str, Any], actor: Actor) -> list[Source]:
    if options["ids"]:
        return [sources.find(uid, actor) for uid in options["ids"]]
    seen = Source.objects.visible_to(actor).select_related("team").order_by("team__slug", "pk")
    return [*(seen.filter(team__slug=options["team"]) if options["team"] else seen)]


def _row(source: Source, actor: Actor, *, look: bool) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """A source that does not answer is listed, with why."""
    try:
        drifted = drift_document(drift(source, actor)) if look else None
    except Refused as refused:
        return {**source_document(source), "drift": None}, refused.problems
    return {**source_document(source), "drift": drifted}, ()


def _line(row: dict[str, Any]) -> str:
    drifted = row["drift"] or {}
    ahead = "  has gone on" if drifted.get("is_ahead") else ""
    over = ", ".join(drifted.get("published_over", ()))
    return f"{row['id']}  {row['team']}  {row['kind']}  {row['location']}{ahead}" + (
        f"  published another way since: {over}" if over else ""
    )
