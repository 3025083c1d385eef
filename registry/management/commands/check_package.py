"""``manage.py check_package PATH…``: checks packages like publishing, but without a database."""

import json
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from registry.core.limits import package_limits
from registry.packages.archive.paths import printable
from registry.packages.archive.repack import digest_of, repack
from registry.packages.dependencies.read import read_dependencies
from registry.packages.package import PROFILES, Package, Profile
from registry.packages.problems import Problem, Refusal
from registry.packages.read_package import read_path
from registry.packages.scan.findings import ScanFinding
from registry.packages.scan.scan import finding_document, scan
from registry.versions.publishing.checks import package_problems
from registry.versions.publishing.command_lines import read_command_lines

_MAX_LINE_CHARACTERS = 1_000  # per message


@dataclass(frozen=True)
class CheckedPackage:
    """The result for one path: a package with its problems, or only the problems of reading it."""

    path: str
    package: Package | None
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)


class Command(BaseCommand):
    help = "Check packages without publishing them. The exit status is 0 if all are valid, otherwise 1."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a zip, tar.gz, folder or SKILL.md")
        parser.add_argument(
            "--profile", choices=PROFILES, help="check against this profile; default: the package's own"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document only")

    def handle(self, *args: Any, **options: Any) -> None:
        checked = [check_path(path, options["profile"]) for path in options["paths"]]
        ok = all(one.ok for one in checked)
        if options["json"]:
            document = {"ok": ok, "packages": [package_document(one) for one in checked]}
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            for one in checked:
                print_package(self, one)
        if not ok:
            raise SystemExit(1)


def print_package(command: BaseCommand, checked: CheckedPackage) -> None:
    verdict = command.style.SUCCESS("ok") if checked.ok else command.style.ERROR("refused")
    command.stdout.write(f"{printable(checked.path)}: {verdict}")
    if checked.package:
        manifest = checked.package.manifest
        command.stdout.write(
            f"  {manifest.slug} {manifest.version or '-'}, profile {checked.package.profile}, "
            f"{len(checked.package.files)} files, {_bytes(checked.package)} bytes"
        )
        for each in dependencies_of(checked.package):
            command.stdout.write(f"  needs {each['kind']} {printable(each['requirement'])}")
        for one in scan(checked.package):
            command.stdout.write(f"  finding {finding_line(one)}")
    for problem in checked.problems:
        place = ":".join(str(part) for part in (problem.path, problem.line) if part)
        message = printable(problem.message(gettext), _MAX_LINE_CHARACTERS)
        command.stdout.write(f"  {problem.severity} {problem.code} {place + ' ' if place else ''}{message}")
        command.stdout.write(f"    {printable(problem.remedy(gettext), _MAX_LINE_CHARACTERS)}")


def finding_line(found: ScanFinding) -> str:
    place = f"{found.path}:{found.line}" if found.line else found.path
    certain = " certain" if found.certain else ""
    return f"{found.severity}{certain} {found.rule} {printable(place)}  {found.quote}"


def check_path(path: str, profile: Profile | None) -> CheckedPackage:
    """Reads and checks the package at this path. A refusal becomes the problems of the result."""
    try:
        package = read_path(Path(path), limits=package_limits(), profile=profile)
    except Refusal as refused:
        return CheckedPackage(path, None, refused.problems)
    problems = (*package.problems, *package_problems(package), *read_command_lines(package).problems)
    return CheckedPackage(path, package, problems)


def package_document(checked: CheckedPackage) -> dict[str, object]:
    """The result as JSON. The fields of an unreadable package are null or empty."""
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
    """The package's dependencies with kind and requirement: Python requirements, locked Node packages, and
    Deno specifiers.
    """
    found = read_dependencies(package.files)
    python = [{"kind": "python", "requirement": each.line} for each in found.python]
    locked = found.node.packages if found.node else ()
    node = [{"kind": "node", "requirement": f"{each.name}@{each.version}"} for each in locked]
    seen = found.deno.specifiers if found.deno else ()
    return [*python, *node, *({"kind": "deno", "requirement": each} for each in seen)]


def _bytes(package: Package) -> int:
    return sum(len(file.data) for file in package.files)
