from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry.core.limits import import_limits
from registry.identity.actors import Actor
from registry.imports import run_import, sources
from registry.imports.errors import TEAM_REQUIRED
from registry.imports.report import ReportRow, load_rows
from registry.lookup.skills import find_team
from registry.management.cli import ShellCommand, problem_line
from registry.models import ImportOutcome, SourceKind, Team, Visibility
from registry.packages.errors import FILE_UNREADABLE
from registry.packages.problems import Problem, Refusal


@dataclass(frozen=True)
class _ImportedRoot:
    root: str
    rows: tuple[ReportRow, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems and all(row.outcome != ImportOutcome.REFUSED for row in self.rows)


class Command(ShellCommand):
    help = "Import skills from folders, projects, archives, and URLs of files, repositories and MCP servers."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("roots", metavar="ROOT", nargs="+", help="a path or URL to import from")
        parser.add_argument(
            "--team", metavar="T", default="", help="the team to import into; default: your only team"
        )
        parser.add_argument(
            "--kind",
            choices=SourceKind.values,
            default="",
            help="the kind of source; default: derived from ROOT",
        )
        parser.add_argument(
            "--visibility", choices=Visibility.values, default="", help="of new skills; default: private"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be imported; change nothing"
        )
        parser.add_argument(
            "--path", action="append", metavar="P", help="an additional skills folder in ROOT; repeatable"
        )
        parser.add_argument("--recursive", action="store_true", help="find SKILL.md files at any depth")
        parser.add_argument(
            "--parents",
            action="store_true",
            help="also import from parent folders, your home folder and the managed folder",
        )
        parser.add_argument(
            "--allow-external", action="store_true", help="follow paths and links that point outside ROOT"
        )
        parser.add_argument(
            "--option",
            action="append",
            metavar="NAME=VALUE",
            help="an option of the source, such as branch=main (see docs/reference/imports.md); repeatable",
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

    def _import(self, root: str, actor: Actor, options: dict[str, Any]) -> _ImportedRoot:
        try:
            return self._read(root, actor, options)
        except Refusal as refused:
            return _ImportedRoot(root, (), refused.problems)

    def _read(self, root: str, actor: Actor, options: dict[str, Any]) -> _ImportedRoot:
        kind = SourceKind(options["kind"] or sources.detect_kind(root))
        source = sources.prepare_source(
            actor,
            team=_team(options["team"], actor),
            kind=kind,
            location=root,
            options=_options(kind, options),
            content=_content(root) if kind == SourceKind.ARCHIVE else None,
        )
        if options["dry_run"]:
            return _ImportedRoot(root, tuple(run_import.preview_import(source, actor)))
        source = sources.save_source(source, actor, visibility=options["visibility"])
        return _ImportedRoot(root, *load_rows(run_import.import_now(source, actor)))


def _content(root: str) -> bytes:
    try:
        with open(root, "rb") as file:
            return file.read(import_limits().archive + 1)
    except OSError as error:
        raise FILE_UNREADABLE.refusal(reason=error.strerror or "").at(root) from None


def _options(kind: SourceKind, options: dict[str, Any]) -> dict[str, object]:
    values: dict[str, object] = dict(pair.partition("=")[::2] for pair in options["option"] or ())
    if kind == SourceKind.FOLDER:
        switches = ("recursive", "parents", "allow_external")
        values |= {name: True for name in switches if options[name]}
        values |= {"paths": options["path"]} if options["path"] else {}
    return values


def _team(slug: str, actor: Actor) -> Team:
    if slug:
        return find_team(slug, actor)
    teams = list(Team.objects.visible_to(actor)[:2])
    if len(teams) != 1:
        raise TEAM_REQUIRED.refusal().at("team")
    return teams[0]


def _document(root: str, row: ReportRow) -> dict[str, object]:
    return {
        "root": root,
        "path": row.path,
        "outcome": row.outcome.value,
        "skill": row.skill,
        "version": row.version,
        "digest": row.digest,
        "problems": [found.document(gettext) for found in row.problems],
    }


def _lines(imported: list[_ImportedRoot]) -> list[str]:
    lines = []
    for each in imported:
        for row in each.rows:
            named = f"{row.skill}@{row.version}" if row.version else row.skill
            lines.append(f"{each.root}: {row.path}  {row.outcome.value}  {named}".rstrip())
            lines += [f"    {problem_line(found)}" for found in row.problems]
        lines += [f"{each.root}: {problem_line(found)}" for found in each.problems]
    return lines
