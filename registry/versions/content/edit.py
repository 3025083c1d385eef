"""Publishes edited files as a skill's next version, and detects concurrent edits."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from registry.core.limits import package_limits
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Version
from registry.packages.archive.repack import read_repacked
from registry.packages.authoring.edit import (
    VERSION_STEPS,
    PackageEdits,
    VersionStep,
    edit_files,
    next_version,
    set_version,
    set_version_line,
)
from registry.packages.package import Package, PackageFile
from registry.packages.read_package import read_package_files
from registry.storage import blobs
from registry.versions.errors import EDIT_CONFLICT, EDIT_RENAMES
from registry.versions.publishing.publish import (
    Preview,
    Publication,
    highest_number,
    preview_publication,
    publish,
)


@dataclass(frozen=True)
class EditedPackage:
    """The package of ``base`` after edits. ``number`` is the version number to publish, or "" if SKILL.md
    states it.
    """

    base: Version
    package: Package
    number: str


def version_files(version: Version) -> tuple[PackageFile, ...]:
    return read_repacked(blobs.read(version.digest))


def next_numbers(version: Version) -> dict[VersionStep, str]:
    """The number that an edited copy of the version gets, by step: after the highest number of the skill."""
    highest = highest_number(version.skill) or version.number
    return {step: next_version(highest, step) for step in VERSION_STEPS}


def apply_edits(
    version: Version,
    edits: PackageEdits,
    step: VersionStep,
    *,
    files: Iterable[PackageFile] | None = None,
) -> EditedPackage:
    """The version's package with the edits applied; nothing is stored.

    A changed number in SKILL.md becomes the new version's number. Otherwise, ``step`` raises the highest
    number of the skill. ``files`` are the version's files, if the caller has read them.

    Raises EDIT_RENAMES if the edits change the slug, and Refusal for edits or packages that can't be read.
    """
    before = version_files(version) if files is None else tuple(files)
    edited = edit_files(before, edits)
    number = next_numbers(version)[step]
    if edited != before and (package := _read_renumbered(edited, version, number)):
        return EditedPackage(version, package, "")
    package = _read(edited, version)
    if package.manifest.version is None:
        return EditedPackage(version, package, number)
    if package.manifest.version == version.number and edited != before:
        package = _read(set_version(edited, package, number), version)
    return EditedPackage(version, package, "")


def _read_renumbered(files: tuple[PackageFile, ...], version: Version, number: str) -> Package | None:
    """The package after replacing the version's number in SKILL.md with ``number``. None unless a line of the
    front matter is the version field with the published number.

    Reads the package only once, because a large front matter takes 0.2 s to read.
    """
    written = version.manifest.get("version_as_written")
    renumbered, line = set_version_line(files, written, number) if written else (files, None)
    if line is None:
        return None
    package = _read(renumbered, version)
    front = package.front_matter
    lines = front.lines if front else {}
    version_line = lines.get(("version",)) or lines.get(("metadata", "version"))
    return package if package.manifest.version == number and version_line == line else None


def preview_edit(edited_package: EditedPackage, actor: Actor) -> Preview:
    return preview_publication(
        edited_package.package,
        team=edited_package.base.skill.team,
        actor=actor,
        version=edited_package.number or None,
    )


@transaction.atomic
def publish_edit(
    edited_package: EditedPackage, actor: Actor, *, changelog: str, base_digest: str
) -> Publication:
    """Publishes the edited package for the skill's team. Raises EDIT_CONFLICT unless ``base_digest`` is the
    digest of the latest version, if there is one, and the errors of ``publish``.
    """
    skill = edited_package.base.skill
    require(actor, Action.PUBLISH, team=skill.team)
    latest = Skill.objects.select_for_update(of=("self",)).select_related("latest").get(pk=skill.pk).latest
    if latest and latest.digest != base_digest:
        raise EDIT_CONFLICT.refusal(skill=str(skill), version=latest.number).at("version")
    return publish(
        edited_package.package,
        team=skill.team,
        actor=actor,
        version=edited_package.number or None,
        changelog=changelog,
        source=skill.source,
    )


def _read(files: tuple[PackageFile, ...], version: Version) -> Package:
    """Reads the files; raises EDIT_RENAMES if they change the slug, and Refusal if they can't be read."""
    package = read_package_files(files, filename=f"{version.skill.slug}.zip", limits=package_limits())
    if package.manifest.slug != version.skill.slug:
        raise EDIT_RENAMES.refusal(slug=version.skill.slug, other=package.manifest.slug).at("SKILL.md")
    return package
