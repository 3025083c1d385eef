"""``manage.py migrate_package DIR``: migrates old packages in place, without a database."""

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from registry.core.limits import package_limits
from registry.management.cli import problem_line
from registry.management.commands.check_package import check_path, package_document, print_package
from registry.packages.archive.paths import printable
from registry.packages.migrate.folders import replace_folder, skill_folders
from registry.packages.migrate.migration import Migration, migrate
from registry.packages.package import PROFILES
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import read_folder

_MAX_LINE_CHARACTERS = 2_000  # per line of the diff


@dataclass(frozen=True)
class MigratedPackage:
    """The result for one package; ``backup`` is the folder with the original."""

    path: Path
    status: str  # migrated, would_migrate, unchanged, refused
    problems: tuple[Problem, ...]
    migration: Migration | None = None
    backup: Path | None = None


class Command(BaseCommand):
    help = (
        "Convert an old package, or a folder of packages, to the ApexBridge layout in place. The command "
        "keeps a copy of the original."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="the package, or a folder of packages")
        parser.add_argument("--dry-run", action="store_true", help="print what would change; write nothing")
        parser.add_argument("--validate", action="store_true", help="only check the packages; change nothing")
        parser.add_argument("--profile", choices=PROFILES, help="with --validate: check against this profile")
        parser.add_argument("--json", action="store_true", help="print one JSON document only")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            folders = list(skill_folders(options["folder"]))
        except Refusal as refused:
            folders, failed = [], [MigratedPackage(options["folder"], "refused", refused.problems)]
        else:
            failed = []
        if options["validate"] and not failed:
            self._validate(folders, options)
            return
        rows = failed or [migrate_folder(folder, dry_run=options["dry_run"]) for folder in folders]
        ok = all(row.status != "refused" for row in rows)
        if options["json"]:
            documents = [migration_document(row) for row in rows]
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
            self._print({"ok": ok, "packages": [package_document(one) for one in checked]})
        else:
            for one in checked:
                print_package(self, one)
        if not ok:
            raise SystemExit(1)

    def _print(self, document: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))

    def _say(self, row: MigratedPackage, dry_run: bool) -> None:
        self.stdout.write(f"{printable(str(row.path))}: {row.status.replace('_', ' ')}")
        for change in row.migration.changes if row.migration else ():
            self.stdout.write(f"  {printable(change.translated(gettext), _MAX_LINE_CHARACTERS)}")
        if row.backup:
            self.stdout.write(f"  Original package: {printable(str(row.backup))}")
        for problem in row.problems:
            self.stdout.write(f"  {printable(problem_line(problem), _MAX_LINE_CHARACTERS)}")
        if dry_run and row.migration:
            for line in row.migration.diff().splitlines():
                self.stdout.write(printable(line, _MAX_LINE_CHARACTERS))


def migrate_folder(folder: Path, *, dry_run: bool) -> MigratedPackage:
    """Migrates one package in place. Writes nothing with ``dry_run``, or if the result would not be valid. A
    refusal becomes the problems of the result.
    """
    try:
        found = migrate(read_folder(folder, limits=package_limits()), limits=package_limits())
        if not found.package.ok:
            return MigratedPackage(folder, "refused", found.package.problems, found)
        if not found.has_changes:
            return MigratedPackage(folder, "unchanged", found.package.problems, found)
        if dry_run:
            return MigratedPackage(folder, "would_migrate", found.package.problems, found)
        return MigratedPackage(
            folder, "migrated", found.package.problems, found, replace_folder(folder, found)
        )
    except Refusal as refused:
        return MigratedPackage(folder, "refused", refused.problems)


def migration_document(row: MigratedPackage) -> dict[str, Any]:
    """The result as JSON. ``diff`` shows the changes, whether or not they were written."""
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
