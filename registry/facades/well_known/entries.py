"""Selects the skills of an index, such as those of the site, a team or a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from registry.changes import drafts
from registry.collections.find import find_collection
from registry.collections.members import members, named_versions
from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.models import Canonical, File, Skill, Version
from registry.packages.archive.layout import SKILL_MD
from registry.packages.version_numbers import normalise

MAX_SITE_ENTRIES = 100  # clients fetch the site's index each time, and may download all of its entries
MAX_TEAM_ENTRIES = 500
MAX_FILES = 1_000  # of an entry; clients refuse larger archives
_MAX_ARCHIVE = 50 * 1024 * 1024  # bytes
_MAX_DESCRIPTION = 1024  # characters
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True)
class IndexEntry:
    """A version with the name by which clients install it. ``files`` are in archive order."""

    name: str
    version: Version
    files: tuple[File, ...]

    @property
    def description(self) -> str:
        """The description, with 1 to 1,024 characters."""
        text = str(self.version.manifest.get("description") or self.name)
        return " ".join(text.split())[:_MAX_DESCRIPTION] or self.name

    @property
    def skill_md(self) -> File | None:
        """The SKILL.md of a version that has no other files. None for other versions."""
        return self.files[0] if [file.path for file in self.files] == [SKILL_MD] else None


def site_entries(actor: Actor) -> list[IndexEntry]:
    """The canonical skills that the actor may see, then the skills with the highest usage score; at most
    MAX_SITE_ENTRIES. If several teams have a slug, it names the skill with the highest score.
    """
    drafts.depend_on_catalog()
    drafts.depend_on_uses()
    canonical = Canonical.objects.discoverable_by(actor).select_related("version__skill__team")
    named = [(each.slug, each.version) for each in canonical.order_by("slug")[:MAX_SITE_ENTRIES]]
    rows = Skill.objects.discoverable_by(actor).order_by("-hot_key", "pk")
    named += _latest_versions(rows, 2 * MAX_SITE_ENTRIES)
    return _entries(named)[:MAX_SITE_ENTRIES]


def team_entries(team: str, actor: Actor) -> list[IndexEntry]:
    """The skills of a team, by descending usage score. Raises NOT_FOUND if there is no such team, or if the
    actor may see neither the team nor a skill of it.
    """
    drafts.depend_on_catalog()
    drafts.depend_on_uses()
    rows = Skill.objects.discoverable_by(actor).filter(team__slug=team).order_by("-hot_key", "pk")
    found = _entries(_latest_versions(rows, MAX_TEAM_ENTRIES))
    if not found:
        skills.find_team(team, actor)
    return found


def skill_entries(label: str, number: str | None, actor: Actor) -> list[IndexEntry]:
    """The skill in the version with this number or in this channel; without ``number``, in the latest
    version.

    Raises the errors of ``find_skill`` and ``find_version``.
    """
    skill = skills.find_skill(label, actor)
    version = skills.find_version(skill, number, actor)
    name = skill.resolved_canonical.slug if skill.resolved_canonical else skill.slug
    return _entries([(name, version)])


def canonical_entries(slug: str, actor: Actor) -> list[IndexEntry]:
    """The pinned version of a canonical skill. Raises the errors of ``find_skill``."""
    return skill_entries(canonicals.PREFIX + slug, None, actor)


def collection_entries(team: str, slug: str, actor: Actor) -> list[IndexEntry]:
    """The skills of a collection that the actor may see. Raises the errors of ``find_collection``."""
    found = named_versions(members(find_collection(team, slug, actor), actor))
    return _entries([(each.name, each.version) for each in found])


def split_name(text: str) -> tuple[str, str | None]:
    """The slug and the version (or None) of ``slug``, ``slug@1.2.0`` or ``slug@name``. Clients print the last
    form.
    """
    slug, _, rest = text.partition("@")
    return slug, rest if normalise(rest) else None


def find_entry(entries: Iterable[IndexEntry], name: str) -> IndexEntry:
    """The entry with this name. Raises NOT_FOUND if there is none."""
    for entry in entries:
        if entry.name == name:
            return entry
    raise NOT_FOUND.refusal(what="skill", name=name[:200])


def _latest_versions(rows: QuerySet[Skill], limit: int) -> list[tuple[str, Version | None]]:
    found = rows.filter(latest__isnull=False).select_related("team", "latest")[:limit]
    pairs: list[tuple[str, Version | None]] = []
    for skill in found:
        if skill.latest:
            skill.latest.skill = skill
        pairs.append((skill.slug, skill.latest))
    return pairs


def _entries(named: Sequence[tuple[str, Version | None]]) -> list[IndexEntry]:
    """The entries that clients accept. Others are omitted, because a client discards the whole index if it
    rejects one entry.
    """
    versions: dict[str, Version] = {}
    for name, version in named:
        if version and _NAME.fullmatch(name) and version.archive_size <= _MAX_ARCHIVE:
            versions.setdefault(name, version)
    files = _files_of([version.pk for version in versions.values()])
    return [
        IndexEntry(name, version, files[version.pk])
        for name, version in versions.items()
        if files.get(version.pk)
    ]


def _files_of(keys: Sequence[int]) -> dict[int, tuple[File, ...]]:
    """The files by version, SKILL.md first. Omits versions without SKILL.md or with more than MAX_FILES
    files.
    """
    counted = File.objects.filter(version__in=keys).values("version").annotate(count=Count("pk"))
    small = [row["version"] for row in counted if row["count"] <= MAX_FILES]
    found: dict[int, list[File]] = {key: [] for key in small}
    for file in _rows(small):
        found[file.version_id].append(file)
    return {
        key: tuple(sorted(rows, key=lambda file: (file.path != SKILL_MD, file.path)))
        for key, rows in found.items()
        if any(file.path == SKILL_MD for file in rows)
    }


def _rows(keys: Sequence[int]) -> Iterator[File]:
    yield from File.objects.filter(version__in=keys).only("version_id", "path", "digest", "size")
