from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry import comparing
from registry.catalog import find_skill, find_version
from registry.shell import ShellCommand


class Command(ShellCommand):
    help = "Compare two versions of a skill: files, manifest, schemas, and what the later one may do."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG")
        parser.add_argument("before", metavar="BEFORE", help="a version's number, or a channel")
        parser.add_argument("after", metavar="AFTER")
        parser.add_argument("--lines", action="store_true", help="tell the lines that changed, too")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        skill = find_skill(options["skill"], actor)
        before = find_version(skill, options["before"], actor, even_held=True)
        after = find_version(skill, options["after"], actor, even_held=True)
        found = comparing.document(before, after, with_texts=options["lines"], translate=gettext)
        self.answer({"ok": True, **found}, _lines(found), as_json=options["json"], ok=True)


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found['skill']} {found['before']} -> {found['after']}"
    if found["same_permissions"]:
        yield "Nothing changed in what it may do."
    for one in found["abilities"]:
        names = [*(f"+{name}" for name in one["gained"]), *(f"-{name}" for name in one["lost"])]
        yield f"{'more' if one['more'] else 'less'}  {one['about']}: {' '.join(names)}"
    for where in ("input_schema", "output_schema"):
        yield from (_schema_line(where, one) for one in found[where])
    for tool in found["tools"]:
        yield from (_schema_line(tool["tool"], one) for one in tool["changes"])
    for field in found["manifest"]:
        yield f"field  {field['name']}"
    for file in found["files"]:
        yield f"{file['kind']}  {file['path']}"
        for line in file.get("lines", ()):
            yield from (f"  - {line['before']}" for _ in range(line["before_line"] is not None))
            yield from (f"  + {line['after']}" for _ in range(line["after_line"] is not None))


def _schema_line(where: str, change: dict[str, str]) -> str:
    return f"{change['effect']}  {where}{change['place']}: {change['reason']}"
