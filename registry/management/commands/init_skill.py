"""``manage.py init_skill TEMPLATE DIR``: creates a valid, runnable skill without a database."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext

from registry.management.cli import USAGE_ERROR, problem_line
from registry.packages.authoring.new_skill import LANGUAGES, TEMPLATES, NewSkill, create_files
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, Refusal
from registry.versions.content.export import write_folder


class Command(BaseCommand):
    help = "Create a skill from a template in a new folder."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "template", metavar="TEMPLATE", nargs="?", help="the name of the template; --list shows all names"
        )
        parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, help="the new folder")
        parser.add_argument("--list", action="store_true", help="list the templates")
        parser.add_argument("--name", default="", help="the skill's name; default: the name of the folder")
        parser.add_argument("--title", default="", help="the display name, in any language")
        parser.add_argument("--description", default="", help="what the skill does and when to use it")
        parser.add_argument(
            "--language", choices=LANGUAGES, default="en", help="the language of the skill's texts"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document only")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list(as_json=options["json"])
            return
        if not options["template"] or not options["folder"]:
            raise CommandError(
                "TEMPLATE and DIR are missing. Add them, or use --list to show the templates.",
                returncode=USAGE_ERROR,
            )
        folder: Path = options["folder"]
        files: tuple[PackageFile, ...] = ()
        problems: tuple[Problem, ...] = ()
        try:
            files = create_files(_start(folder, options))
            write_folder(files, folder)
        except Refusal as refused:
            problems = refused.problems
        self._answer(folder, files, problems, as_json=options["json"])

    def _list(self, *, as_json: bool) -> None:
        rows = [
            {"template": kind.name, "title": gettext(kind.title), "summary": gettext(kind.summary)}
            for kind in TEMPLATES
        ]
        if as_json:
            self.stdout.write(json.dumps({"templates": rows}, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write(f"{row['template']:<11} {row['title']}: {row['summary']}")

    def _answer(
        self, folder: Path, files: tuple[PackageFile, ...], problems: tuple[Problem, ...], *, as_json: bool
    ) -> None:
        made = [] if problems else [file.path for file in files]
        if as_json:
            rows = [problem.document(gettext) for problem in problems]
            document = {"ok": not problems, "path": str(folder), "files": made, "problems": rows}
            self.stdout.write(json.dumps(document, ensure_ascii=False))
        else:
            for line in (*(str(folder / path) for path in made), *map(problem_line, problems)):
                self.stdout.write(line)
        if problems:
            raise SystemExit(1)


def _start(folder: Path, options: dict[str, Any]) -> NewSkill:
    name = options["name"] or folder.absolute().name
    return NewSkill(options["template"], name, options["title"], options["description"], options["language"])
