from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext

from registry.core.limits import package_limits
from registry.lookup.skills import find_team
from registry.management.cli import ShellCommand, problem_line
from registry.models import Visibility
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import read_path
from registry.versions.publishing.publish import Publication, publish


class Command(ShellCommand):
    help = "Publish packages as new versions of skills."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "paths", metavar="PATH", nargs="+", type=Path, help="a folder, zip, tar.gz or SKILL.md"
        )
        parser.add_argument("--team", required=True, metavar="T", help="the team that owns the skills")
        parser.add_argument(
            "--version-number", default=None, help="the version number of packages that state none"
        )
        parser.add_argument(
            "--visibility", choices=Visibility.values, default=None, help="set the visibility of the skills"
        )
        parser.add_argument("--changelog", default="", help="the changes in this version")
        parser.add_argument("--channel", default=None, help="also point this channel to the version")

    def handle(self, *args: Any, **options: Any) -> None:
        published: list[Publication] = []
        problems: list[tuple[Path, Problem]] = []
        for path in options["paths"]:
            try:
                publication = self.publish(path, options)
            except Refusal as refused:
                problems += [(path, problem) for problem in refused.problems]
                continue
            published.append(publication)
            problems += [(path, problem) for problem in publication.problems]
        ok = len(published) == len(options["paths"])
        document = {
            "ok": ok,
            "published": [_row(publication) for publication in published],
            "problems": [{**problem.document(gettext), "package": str(path)} for path, problem in problems],
        }
        lines = [*map(_line, published), *(f"{path}: {problem_line(found)}" for path, found in problems)]
        self.answer(document, lines, as_json=options["json"], ok=ok)

    def publish(self, path: Path, options: dict[str, Any]) -> Publication:
        actor = self.actor(options)
        return publish(
            read_path(path, limits=package_limits()),
            team=find_team(options["team"], actor),
            actor=actor,
            version=options["version_number"],
            visibility=options["visibility"],
            changelog=options["changelog"],
            channel=options["channel"],
            source="disk",
        )


def _row(publication: Publication) -> dict[str, str]:
    version = publication.version
    return {"skill": str(version.skill), "version": version.number, "digest": version.digest}


def _line(publication: Publication) -> str:
    outcome = "published" if publication.created else "already published"
    return f"{publication.version}  {outcome}  {publication.version.digest}"
