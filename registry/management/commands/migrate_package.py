"""``manage.py migrate_package DIR``: old packages become conforming ones, in place, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from registry.limits import package_limits
from registry.management.commands.check_package import check_path, describe, document_of
from registry.packages.migrating import Migration, migrate
from registry.packages.migrating.folders import skill_folders, write
from registry.packages.package import PROFILES
from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused
from registry.packages.reading import read_folder
from registry.shell import problem_line

_LINE = 2_000  # characters of a diff's line


@dataclass(frozen=True)
class Row:
    """What became of one package; ``backup`` is where it is kept as it was."""

    path: Path
    status: str  # migrated, would_migrate, unchanged, refused
    problems: tuple[Problem, ...]
    migration: Migration | None = None
    backup: Path | None = None


class Command(BaseCommand):
    help = (
        "Migrate an old package, or a folder of many, to the layout of document C. "
        "Exit status 0 done, 1 refused, 2 wrong call."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="print what would change; write nothing")
        parser.add_argument("--validate", action="store_true", help="check the packages; change nothing")
        parser.add_argument("--profile", choices=PROFILES, help="with --validate: check under this profile")
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            folders = list(skill_folders(options["folder"]))
        except Refused as refused:
            folders, failed = [], [Row(options["folder"], "refused", refused.problems)]
        else:
            failed = []
        if options["validate"] and not failed:
            self._validate(folders, options)
            return
        rows = failed or [migrate_folder(folder, dry_run=options["dry_run"]) for folder in folders]
        ok = all(row.status != "refused" for row in rows)
        if options["json"]:
            documents = [document(row) for row in rows]
            self._print({"ok": ok, "dry_run": options["dry_run"], "packages": documents})
        else:
            for row in rows:
                self._say(row, options["dry_run"])
        if not ok:
            raise SystemExit(1)

    def _validate(self, folders: list[Path], options: dict[str, Any]) -> None:
        checked = [check_path(str(folder), options["profile"]) for folder in folders]
        ok = all(one.ok for one in checked)
        if options["json"]:
            self._print({"ok": ok, "packages": [document_of(one) for one in checked]})
        else:
            for one in checked:
                describe(self, one)
        if not ok:
            raise SystemExit(1)

    def _print(self, document: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))

    def _say(self, row: Row, dry_run: bool) -> None:
        self.stdout.write(f"{shown(str(row.path))}: {row.status.replace('_', ' ')}")
        for change in row.migration.changes if row.migration else ():
            self.stdout.write(f"  {shown(change.translated(gettext), _LINE)}")
        if row.backup:
            self.stdout.write(f"  The package as it was: {shown(str(row.backup))}")
        for problem in row.problems:
            self.stdout.write(f"  {shown(problem_line(problem), _LINE)}")
        if dry_run and row.migration:
            for line in row.migration.diff().splitlines():
                self.stdout.write(shown(line, _LINE))


def migrate_folder(folder: Path, *, dry_run: bool) -> Row:
    """One package: nothing is written where it would not conform afterwards."""
    try:
        found = migrate(read_folder(folder, limits=package_limits()), limits=package_limits())
        if not found.package.ok:
            return Row(folder, "refused", found.package.problems, found)
        if not found.changed:
            return Row(folder, "unchanged", found.package.problems, found)
        if dry_run:
            return Row(folder, "would_migrate", found.package.problems, found)
        return Row(folder, "migrated", found.package.problems, found, write(folder, found))
    except Refused as refused:
        return Row(folder, "refused", refused.problems)


def document(row: Row) -> dict[str, Any]:
    """The row for programs; ``diff`` is there for a dry run and for what was done alike."""
    found = row.migration
    return {
        "path": str(row.path),
        "ok": row.status != "refused",
        "status": row.status,
        "slug": found and found.package.manifest.slug,
        "profile": found and found.package.profile,
        "changes": [change.translated(gettext) for change in found.changes] if found else [],
        "diff": found.diff() if found else "",
        "backup": row.backup and str(row.backup),
        "problems": [problem.document(gettext) for problem in row.problems],
    }
