from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry.actors import Actor
from registry.catalog import find_team
from registry.imports import engine, sources
from registry.imports.report import Row, outcome_of
from registry.limits import import_limits
from registry.models import ImportOutcome, SourceKind, Team, Visibility
from registry.packages.problems import Problem, Refused, refuse
from registry.shell import ShellCommand, problem_line


@dataclass(frozen=True)
class _Imported:
    """What one ROOT gave: a row for each folder seen there, and why it failed as a whole."""

    root: str
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems and all(row.outcome != ImportOutcome.REFUSED for row in self.rows)


class Command(ShellCommand):
    help = "Import skills: folders, projects, archives, and addresses of files, repositories and MCP servers."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("roots", metavar="ROOT", nargs="+")
        parser.add_argument(
            "--team", metavar="T", default="", help="may be left away where there is only one"
        )
        parser.add_argument(
            "--kind", choices=SourceKind.values, default="", help="where ROOT does not say it"
        )
        parser.add_argument("--visibility", choices=Visibility.values, default="")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
        parser.add_argument("--path", action="append", metavar="P", help="a further root within a folder")
        parser.add_argument("--deep", action="store_true", help="take SKILL.md at any depth")
        parser.add_argument("--above", action="store_true", help="also parents' up to home, user's, managed")
        parser.add_argument(
            "--allow-external", action="store_true", help="follow paths and links out of ROOT"
        )
        parser.add_argument(
            "--option", action="append", metavar="NAME=VALUE", help="of addresses: see docs/api.md"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        imported = [self._import(root, actor, options) for root in options["roots"]]
        ok = all(each.ok for each in imported)
        document = {
            "ok": ok,
            "dry_run": options["dry_run"],
            "imported": [_document(each.root, row) for each in imported for row in each.rows],
            "problems": [
                {**found.document(gettext), "root": each.root} for each in imported for found in each.problems
            ],
        }
        self.answer(document, _lines(imported), as_json=options["json"], ok=ok)

    def _import(self, root: str, actor: Actor, options: dict[str, Any]) -> _Imported:
        try:
            return self._read(root, actor, options)
        except Refused as refused:
            return _Imported(root, (), refused.problems)

    def _read(self, root: str, actor: Actor, options: dict[str, Any]) -> _Imported:
        kind = SourceKind(options["kind"] or sources.kind_of(root))
        source = sources.described(
            actor,
            team=_team(options["team"], actor),
            kind=kind,
            location=root,
            options=_options(kind, options),
            content=_content(root) if kind == SourceKind.ARCHIVE else None,
        )
        if options["dry_run"]:
            return _Imported(root, tuple(engine.preview(source, actor)))
        source = sources.keep(source, actor, visibility=options["visibility"])
        return _Imported(root, *outcome_of(engine.run_here(source, actor)))


def _content(root: str) -> bytes:
    try:
        with open(root, "rb") as file:
            return file.read(import_limits().archive + 1)
    except OSError as error:
        raise refuse("FILE_UNREADABLE", path=root, reason=error.strerror or "") from None


def _options(kind: SourceKind, options: dict[str, Any]) -> dict[str, object]:
    said: dict[str, object] = dict(pair.partition("=")[::2] for pair in options["option"] or ())
    if kind == SourceKind.FOLDER:
        switches = ("deep", "above", "allow_external")
        said |= {name: True for name in switches if options[name]}
        said |= {"paths": options["path"]} if options["path"] else {}
    return said


def _team(slug: str, actor: Actor) -> Team:
    if slug:
        return find_team(slug, actor)
    teams = list(Team.objects.visible_to(actor)[:2])
    if len(teams) != 1:
        raise refuse("TEAM_REQUIRED", path="team")
    return teams[0]


def _document(root: str, row: Row) -> dict[str, object]:
    return {
        "root": root,
        "path": row.path,
        "outcome": row.outcome.value,
        "skill": row.skill,
        "version": row.version,
        "digest": row.digest,
        "problems": [found.document(gettext) for found in row.problems],
    }


def _lines(imported: list[_Imported]) -> list[str]:
    lines = []
    for each in imported:
        for row in each.rows:
            named = f"{row.skill}@{row.version}" if row.version else row.skill
            lines.append(f"{each.root}: {row.path}  {row.outcome.value}  {named}".rstrip())
            lines += [f"    {problem_line(found)}" for found in row.problems]
        lines += [f"{each.root}: {problem_line(found)}" for found in each.problems]
    return lines
