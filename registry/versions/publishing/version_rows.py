"""Creates the database rows of versions and their files, and converts problems for storage."""

import hashlib

from registry.models import File, Skill, Version
from registry.packages import version_numbers
from registry.packages.manifest.manifest import manifest_document
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, storable
from registry.packages.scan.scan import rules_digest
from registry.versions.publishing.draft import Draft


def create_rows(
    draft: Draft, skill: Skill, number: str, further_problems: tuple[Problem, ...] = ()
) -> Version:
    version = Version.objects.create(
        skill=skill,
        number=number,
        precedence=version_numbers.precedence(number),
        number_as_written=(draft.manifest.version_as_written or "")[:64],
        digest=draft.digest,
        archive_size=len(draft.archive),
        profile=draft.package.profile,
        manifest=manifest_document(draft.manifest),
        body=draft.package.body,
        problems=[serialize_problem(each) for each in (*draft.package.problems, *further_problems)],
        changelog=draft.changelog,
        provenance=dict(draft.options.provenance or {}),
        published_by=draft.actor.user,
        scanned_with=rules_digest(),
    )
    File.objects.bulk_create((_file(version, file) for file in draft.package.files), batch_size=500)
    return version


def load_problems(version: Version) -> tuple[Problem, ...]:
    """The stored warnings and notices, found when the version was published or later."""
    return tuple(Problem(**row) for row in version.problems)


def _file(version: Version, file: PackageFile) -> File:
    return File(
        version=version,
        path=file.path,
        size=len(file.data),
        digest=f"sha256:{hashlib.sha256(file.data).hexdigest()}",
        is_text=_is_text(file.data),
        executable=file.executable,
    )


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False


def serialize_problem(problem: Problem) -> dict[str, object]:
    """The problem as a JSON object for storage, without its message and remedy. These are rendered later, in
    the reader's language.
    """
    return {
        "code": problem.code,
        "path": problem.path,
        "line": problem.line,
        "params": {name: storable(value) for name, value in problem.params.items()},
        "severity": problem.severity,
    }
