"""``manage.py check_package PATH…``: what publishing would say, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from registry.limits import package_limits
from registry.packages.dependencies import read_dependencies
from registry.packages.package import PROFILES, Package, Profile
from registry.packages.paths import shown
from registry.packages.problems import Problem, Refused
from registry.packages.reading import read_path
from registry.packages.repack import digest_of, repack
from registry.packages.scan.scanning import finding_document, scan

_LINE = 1_000  # characters of a message


@dataclass(frozen=True)
class Checked:
    """One path's outcome: a package, or what kept it from being read."""

    path: str
    package: Package | None
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)


class Command(BaseCommand):
    help = (
        "Check skill packages: zip, tar.gz, folder or SKILL.md. Exit status 0 fine, 1 refused, 2 wrong call."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH")
        parser.add_argument(
            "--profile", choices=PROFILES, help="check under this profile, whatever the package is"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        checked = [check_path(path, options["profile"]) for path in options["paths"]]
        ok = all(one.ok for one in checked)
        if options["json"]:
            document = {"ok": ok, "packages": [document_of(one) for one in checked]}
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            for one in checked:
                describe(self, one)
        if not ok:
            raise SystemExit(1)


def describe(command: BaseCommand, checked: Checked) -> None:
    """One path's outcome as lines for people."""
    verdict = command.style.SUCCESS("ok") if checked.ok else command.style.ERROR("refused")
    command.stdout.write(f"{shown(checked.path)}: {verdict}")
    if checked.package:
        manifest = checked.package.manifest
        command.stdout.write(
            f"  {manifest.slug} {manifest.version or '-'}, profile {checked.package.profile}, "
            f"{len(checked.package.files)} files, {_bytes(checked.package)} bytes"
        )
        for each in dependencies_of(checked.package):
            command.stdout.write(f"  needs {each['kind']} {shown(each['asks'])}")
    for problem in checked.problems:
        place = ":".join(str(part) for part in (problem.path, problem.line) if part)
        message = shown(problem.message(gettext), _LINE)
        command.stdout.write(f"  {problem.severity} {problem.code} {place + ' ' if place else ''}{message}")
        command.stdout.write(f"    {shown(problem.remedy(gettext), _LINE)}")


def check_path(path: str, profile: Profile | None) -> Checked:
    """Reads one path; whatever is wrong with it is a problem of its row."""
    try:
        package = read_path(Path(path), limits=package_limits(), profile=profile)
    except Refused as refused:
        return Checked(path, None, refused.problems)
    return Checked(path, package, package.problems)


def document_of(checked: Checked) -> dict[str, object]:
    """The row of one path; what a package that could not be read has not is null."""
    package = checked.package
    return {
        "path": checked.path,
        "ok": checked.ok,
        "slug": package and package.manifest.slug,
        "name": package and package.manifest.name,
        "version": package and package.manifest.version,
        "profile": package and package.profile,
        "digest": package and digest_of(repack(package.files)),
        "files": package and len(package.files),
        "bytes": package and _bytes(package),
        "problems": [problem.document(gettext) for problem in checked.problems],
        "findings": [finding_document(one, gettext) for one in scan(package)] if package else [],
        "dependencies": dependencies_of(package) if package else [],
    }


def dependencies_of(package: Package) -> list[dict[str, str]]:
    """What its scripts ask an index for: Python's by name, Node's as they are locked, deno's as seen."""
    found = read_dependencies(package.files)
    python = [{"kind": "python", "asks": each.line} for each in found.python]
    locked = found.node.packages if found.node else ()
    node = [{"kind": "node", "asks": f"{each.name}@{each.version}"} for each in locked]
    seen = found.deno.specifiers if found.deno else ()
    return [*python, *node, *({"kind": "deno", "asks": each} for each in seen)]


def _bytes(package: Package) -> int:
    return sum(len(file.data) for file in package.files)
