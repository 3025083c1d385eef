"""Publishes edited files as a skill's next version. Detects concurrent edits."""

from dataclasses import dataclass

from django.db import transaction

from registry.core.limits import package_limits
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import Skill, Version
from registry.packages.archive.repack import read_repacked, repack
from registry.packages.authoring.edit import PackageEdits, VersionStep, edit_files, next_version, set_version
from registry.packages.package import Package, PackageFile
from registry.packages.read_package import read_upload
from registry.packages.version_numbers import parse
from registry.storage import blobs
from registry.versions.errors import EDIT_CONFLICT, EDIT_RENAMES
from registry.versions.publishing.publish import Preview, Publication, preview_publication, publish


@dataclass(frozen=True)
class EditedPackage:
    """A package after edits. ``number`` is the number to publish it under, or "" if SKILL.md states one."""

    base: Version
    package: Package
    number: str


def version_files(version: Version) -> tuple[PackageFile, ...]:
    return read_repacked(blobs.read(version.digest))


def apply_edits(version: Version, edits: PackageEdits, step: VersionStep, *, onto: str = "") -> EditedPackage:
    """The version's package with the edits applied. Raises EDIT_RENAMES, or Refusal if invalid.

    A new number in SKILL.md has precedence. Otherwise, ``step`` raises the number of the version, or that of
    a newer version, ``onto``.
    """
    before = version_files(version)
    files = edit_files(before, edits)
    package = _read(files, version)
    if package.manifest.slug != version.skill.slug:
        raise EDIT_RENAMES.refusal(slug=version.skill.slug, other=package.manifest.slug).at("SKILL.md")
    number = next_version(onto if parse(onto) else version.number, step)
    if package.manifest.version is None:
        return EditedPackage(version, package, number)
    if package.manifest.version == version.number and files != before:
        package = _read(set_version(files, package.manifest, number, package_limits()), version)
    return EditedPackage(version, package, "")


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
    """Publishes the edit. Raises EDIT_CONFLICT unless ``base_digest`` is that of the latest version."""
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
    return read_upload(repack(files), filename=f"{version.skill.slug}.zip", limits=package_limits())
