from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser

from registry.core.prompt_text import one_line
from registry.listing.listed_skill import pinned_manifest
from registry.management.cli import ShellCommand
from registry.search import query
from registry.search.facets import MAX_COUNTED_SKILLS, facets, facets_document


class Command(ShellCommand):
    help = "Search the catalog; matches in names come first."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("text", metavar="TEXT", help="the words to search for")
        parser.add_argument("--limit", type=int, default=20, help="the maximum number of skills; default: 20")
        for name in query.FACETS:
            parser.add_argument(f"--{name}", default="", help=f"only skills with this {name}")
        parser.add_argument(
            "--facets", action="store_true", help="also count the results of each filter value"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        actor, text = self.actor(options), options["text"]
        filters = query.Filters(**{name: options[name] for name in query.FACETS})
        counted = MAX_COUNTED_SKILLS if options["facets"] else 0
        found = query.search(text, actor, limit=max(options["limit"], 1), filters=filters, counted=counted)
        answer = query.search_document(found)
        lines = [_line(hit) for hit in found.hits] or ["Nothing found."]
        if options["facets"]:
            counts = facets_document(facets(text, filters, actor, found=found))
            answer["facets"] = counts
            lines += _counts(counts)
        self.answer(answer, lines, as_json=options["json"], ok=True)


def _line(hit: query.Hit) -> str:
    version = hit.skill.resolved_canonical.version if hit.skill.resolved_canonical else hit.skill.latest
    number = version.number if version else "-"
    described = pinned_manifest(hit.skill.resolved_canonical) if hit.skill.resolved_canonical else hit.skill
    label, about = hit.skill.resolved_canonical or hit.skill, one_line(described.description)[:80]
    return f"{label}@{number}  {hit.tier.name.lower()}  {hit.score:.2f}  {about}"


def _counts(counts: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    for name, values in counts.items():
        if values:
            yield f"{name}: " + ", ".join(f"{each['value']} {each['count']}" for each in values)
