from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from registry import search
from registry.facets import MOST_COUNTED, facets, facets_document
from registry.listing.offering import said_by
from registry.listing.plain import one_line
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Search the catalog: names first, then tags, then text."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT")
        parser.add_argument("--limit", type=int, default=20)
        for name in search.FACETS:
            parser.add_argument(f"--{name}", default="", help=f"only of this {name}")
        parser.add_argument("--facets", action="store_true", help="count what each filter would leave, too")

    def handle(self, *args: Any, **options: Any) -> None:
        actor, text = self.actor(options), options["text"]
        filters = search.Filters(**{name: options[name] for name in search.FACETS})
        counted = MOST_COUNTED if options["facets"] else 0
        found = search.search(text, actor, limit=max(options["limit"], 1), filters=filters, counted=counted)
        answer = search.document(found)
        lines = [_line(hit) for hit in found.hits] or ["Nothing found."]
        if options["facets"]:
            counts = facets_document(facets(text, filters, actor, found=found))
            answer["facets"] = counts
            lines += _counts(counts)
        self.answer(answer, lines, as_json=options["json"], ok=True)


def _line(hit: search.Hit) -> str:
    version = hit.skill.found_as.version if hit.skill.found_as else hit.skill.latest
    number = version.number if version else "-"
    said = said_by(hit.skill.found_as) if hit.skill.found_as else hit.skill
    label, about = hit.skill.found_as or hit.skill, one_line(said.description)[:80]
    return f"{label}@{number}  {hit.tier.name.lower()}  {hit.score:.2f}  {about}"


def _counts(counts: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    for name, values in counts.items():
        if values:
            yield f"{name}: " + ", ".join(f"{each['value']} {each['count']}" for each in values)
