"""A version's text edited into the next version, unless somebody else was there first."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from registry import storage
from registry.actors import Actor
from registry.limits import package_limits
from registry.models import Skill, Version
from registry.packages.editing import Edits, Step, edited, next_number, numbered
from registry.packages.package import Package, PackageFile
from registry.packages.problems import refuse
from registry.packages.reading import read_upload
from registry.packages.repack import read_repacked, repack
from registry.packages.versions import parse
from registry.permissions import Action, require
from registry.publishing import Preview, Publication, check, publish


@dataclass(frozen=True)
class Edition:
    """A package as edited; ``number`` is what to publish it under, "" where SKILL.md says it."""

    base: Version
    package: Package
    number: str


def files_of(version: Version) -> tuple[PackageFile, ...]:
    return read_repacked(storage.read(version.digest))


def edit(version: Version, edits: Edits, step: Step, *, onto: str = "") -> Edition:
    """The package that the edits make of a version. Refuses with every problem of the gate.

    A number that the author has raised in SKILL.md holds; else ``step`` raises the version's, or that of the
    newer version ``onto`` which the edits go.
    """
    before = files_of(version)
    files = edited(before, edits)
    package = _read(files, version)
    if package.manifest.slug != version.skill.slug:
        raise refuse("EDIT_RENAMES", path="SKILL.md", slug=version.skill.slug, other=package.manifest.slug)
    number = next_number(onto if parse(onto) else version.number, step)
    if package.manifest.version is None:
        return Edition(version, package, number)
    if package.manifest.version == version.number and files != before:
        package = _read(numbered(files, package.manifest, number, package_limits()), version)
    return Edition(version, package, "")


def preview(edition: Edition, actor: Actor) -> Preview:
    return check(edition.package, team=edition.base.skill.team, actor=actor, version=edition.number or None)


@transaction.atomic
def publish_edit(edition: Edition, actor: Actor, *, changelog: str, seen: str) -> Publication:
    """Publishes; ``seen`` is the digest of the latest version that the author knew of."""
    skill = edition.base.skill
    require(actor, Action.PUBLISH, team=skill.team)
    latest = Skill.objects.select_for_update(of=("self",)).select_related("latest").get(pk=skill.pk).latest
    if latest and latest.digest != seen:
        raise refuse("EDIT_CONFLICT", path="version", skill=str(skill), version=latest.number)
    return publish(
        edition.package,
        team=skill.team,
        actor=actor,
        version=edition.number or None,
        changelog=changelog,
        source=skill.source,
    )


def _read(files: tuple[PackageFile, ...], version: Version) -> Package:
    return read_upload(repack(files), filename=f"{version.skill.slug}.zip", limits=package_limits())
