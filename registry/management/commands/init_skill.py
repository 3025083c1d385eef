"""``manage.py init_skill KIND DIR``: a new skill that conforms and runs, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext

from registry.exporting import write_folder
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, Refused
from registry.packages.starting import KINDS, LANGUAGES, Start, start
from registry.shell import WRONG_CALL, problem_line


class Command(BaseCommand):
    help = "Start a skill: writes a small package of one kind into a new folder, for you to change."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", metavar="KIND", nargs="?", help="one of those that --list shows")
        parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, help="a folder that is not there")
        parser.add_argument("--list", action="store_true", help="show the kinds")
        parser.add_argument("--name", default="", help="else the folder's")
        parser.add_argument("--title", default="", help="the name that is shown; may be Chinese")
        parser.add_argument("--description", default="", help="what it does and when to use it")
        parser.add_argument("--lang", choices=LANGUAGES, default="en", help="the language of its texts")
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list(as_json=options["json"])
            return
        if not options["kind"] or not options["folder"]:
            raise CommandError("KIND and DIR are needed, or --list.", returncode=WRONG_CALL)
        folder: Path = options["folder"]
        files: tuple[PackageFile, ...] = ()
        problems: tuple[Problem, ...] = ()
        try:
            files = start(_start(folder, options))
            write_folder(files, folder)
        except Refused as refused:
            problems = refused.problems
        self._answer(folder, files, problems, as_json=options["json"])

    def _list(self, *, as_json: bool) -> None:
        rows = [
            {"kind": kind.name, "title": gettext(kind.title), "summary": gettext(kind.summary)}
            for kind in KINDS
        ]
        if as_json:
            self.stdout.write(json.dumps({"kinds": rows}, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write(f"{row['kind']:<11} {row['title']}: {row['summary']}")

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


def _start(folder: Path, options: dict[str, Any]) -> Start:
    name = options["name"] or folder.absolute().name
    return Start(options["kind"], name, options["title"], options["description"], options["lang"])
