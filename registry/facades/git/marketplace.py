"""The repository of a marketplace: the skills of the site or a team as plugins, within limits of number and
size.

Each publication and each yank is a commit, in order, so that ``git pull`` works. The first commit of a long
history combines the oldest events. The number of combined events changes rarely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from django.db.models import F, QuerySet

from registry.changes import drafts
from registry.core.addresses import absolute_url
from registry.facades.git.history import SEGMENT_BYTES, HistoryEntry, key_of, releases_of, size_start
from registry.facades.git.objects import BuiltRepository, Entry
from registry.facades.git.plugins import Plugin, marketplace_files, plugin_folder
from registry.identity.actors import Actor
from registry.lookup import skills
from registry.models import Canonical, Skill, Version
from registry.packages.version_numbers import parse

MAX_PLUGINS = 500
SITE_NAME = "skillquay"
_MAX_ROWS = 4096  # of the marketplace files of all commits together, roughly
_MAX_DESCRIPTION = 1024  # characters
_MAX_STEP = 128


@dataclass(frozen=True)
class Listed:
    """A skill with its name in the marketplace, its path on this site, and its releases."""

    name: str
    path: str
    releases: tuple[HistoryEntry, ...]


@dataclass(frozen=True)
class Marketplace:
    name: str
    skills: tuple[Listed, ...]

    @property
    def key(self) -> str:
        return key_of(asdict(self))


@dataclass(frozen=True)
class _Event:
    at: int
    release: HistoryEntry
    is_yank: bool
    name: str


def marketplace_of(team: str | None, actor: Actor) -> Marketplace:
    """The marketplace of the team, or of the site if ``team`` is None.

    In the site's marketplace, a slug names the canonical skill, otherwise the oldest skill with
    this slug. Other skills are named ``team-slug``. Raises NOT_FOUND if the actor may see neither
    the team nor a skill of it.
    """
    drafts.depend_on_catalog()
    drafts.depend_on_uses()
    rows = Skill.objects.discoverable_by(actor).filter(latest__isnull=False)
    if team is not None:
        rows = rows.filter(team__slug=team)
        listed = _listed(_chosen(rows), (), team=team)
        if not listed:
            skills.find_team(team, actor)
        return Marketplace(team, tuple(listed))
    canonical = Canonical.objects.discoverable_by(actor).select_related("version").order_by("slug")
    return Marketplace(SITE_NAME, tuple(_listed(_chosen(rows), canonical[:MAX_PLUGINS], team=None)))


def plugins_of(market: Marketplace) -> list[tuple[Plugin, dict[str, str]]]:
    """The plugins in their latest versions, each with the source entry that points to its repository."""
    latest = {listed.name: _best(listed.releases) for listed in market.skills}
    texts = _descriptions(row.digest for row in latest.values() if row)
    return [
        (
            Plugin(listed.name, row.number, texts.get(row.digest, listed.name)),
            {"source": "url", "url": absolute_url(f"{listed.path}.plugin.git")},
        )
        for listed in market.skills
        if (row := latest[listed.name])
    ]


def build_marketplace(market: Marketplace) -> BuiltRepository:
    """Builds the repository of the marketplace. Raises the errors of ``blobs.read``."""
    repository = BuiltRepository(market.key)
    events = _events(market)
    texts = _descriptions(event.release.digest for event in events)
    sizes = [event.release.size for event in events]
    start = max(_combined_events(len(events), len(market.skills)), size_start(sizes))
    state: dict[str, list[HistoryEntry]] = {}
    folders: dict[tuple[str, str], Entry] = {}
    for event in events[:start]:
        _apply(state, event)
    at = events[start - 1].at if start else 0
    message = "Earlier versions\n" if start else "No skills yet\n"
    parent = None
    if start or not events:
        parent = repository.commit(
            _folder(repository, market, state, texts, folders), message, at=at, parent=None
        )
    for event in events[start:]:
        _apply(state, event)
        folder = _folder(repository, market, state, texts, folders)
        verb = "Yank" if event.is_yank else "Publish"
        message = f"{verb} {event.name} {event.release.number}\n\nDigest: {event.release.digest}\n"
        parent = repository.commit(folder, message, at=event.at, parent=parent)
    assert parent
    return repository.point(parent)


def _chosen(rows: QuerySet[Skill]) -> list[Skill]:
    """The skills with the highest usage scores within the limits of number and size, sorted by age, oldest
    first.
    """
    some = rows.select_related("team").only("slug", "team__slug").order_by("-hot_key", "pk")
    sized = some.annotate(bytes=F("latest__archive_size"))[:MAX_PLUGINS]
    totals = zip(sized, accumulate(skill.bytes for skill in sized), strict=True)
    return sorted(
        (skill for skill, total in totals if total <= 2 * SEGMENT_BYTES), key=lambda skill: skill.pk
    )


def _listed(found: Sequence[Skill], canonical: Iterable[Canonical], *, team: str | None) -> list[Listed]:
    pinned = {row.slug: row for row in canonical}
    keys = {row.version.skill_id for row in pinned.values() if row.version}
    shown = [skill for skill in found if skill.pk not in keys]
    owners: dict[int, list[HistoryEntry]] = {skill.pk: [] for skill in shown}
    versions = Version.objects.filter(skill__in=owners)
    owner_of = dict(versions.values_list("pk", "skill_id"))
    for release in releases_of(versions):
        owners[owner_of[release.key]].append(release)
    names: dict[str, Listed] = {}
    for slug, row in pinned.items():
        one = tuple(releases_of(Version.objects.filter(canonicals=row)))
        names[slug] = Listed(slug, f"canonical/{slug}", one)
    for skill in shown:
        path = str(skill)
        name = skill.slug if team or skill.slug not in names else path.replace("/", "-")
        names.setdefault(name, Listed(name, path, tuple(owners[skill.pk])))
    return list(names.values())[:MAX_PLUGINS]


def _events(market: Marketplace) -> list[_Event]:
    found = []
    for listed in market.skills:
        for row in listed.releases:
            found.append(_Event(row.at, row, False, listed.name))
            if row.yanked_at is not None:
                found.append(_Event(max(row.yanked_at, row.at), row, True, listed.name))
    return sorted(found, key=lambda event: (event.at, event.is_yank, event.release.key))


def _combined_events(events: int, plugins: int) -> int:
    """The number of oldest events that the first commit combines; each later event gets its own commit."""
    step = min(_MAX_STEP, 1 << max(0, (_MAX_ROWS // max(plugins, 1)).bit_length() - 1))
    return max(0, (events // step - 1) * step)


def _apply(state: dict[str, list[HistoryEntry]], event: _Event) -> None:
    releases = state.setdefault(event.name, [])
    if event.is_yank:
        releases.remove(event.release)
    else:
        releases.append(event.release)


def _folder(
    repository: BuiltRepository,
    market: Marketplace,
    state: dict[str, list[HistoryEntry]],
    texts: dict[str, str],
    folders: dict[tuple[str, str], Entry],
) -> Entry:
    plugins, entries = [], {}
    for listed in market.skills:
        row = max(state.get(listed.name, ()), key=_rank, default=None)
        if row is None:
            continue
        key = (listed.name, row.digest)
        if key not in folders:
            folders[key] = plugin_folder(repository, listed.name, row.number, repository.package(row.digest))
        plugins.append(Plugin(listed.name, row.number, texts.get(row.digest, listed.name)))
        entries[f"plugins/{listed.name}"] = folders[key]
    return repository.folder({**entries, **marketplace_files(repository, market.name, plugins)})


def _best(releases: Iterable[HistoryEntry]) -> HistoryEntry | None:
    return max((row for row in releases if row.yanked_at is None), key=_rank, default=None)


def _rank(row: HistoryEntry) -> tuple[bool, str]:
    """The sort key that selects the latest release: pre-releases are lower than all other releases."""
    parsed = parse(row.number)
    return not (parsed and parsed.prerelease), row.precedence


def _descriptions(digests: Iterable[str]) -> dict[str, str]:
    rows = Version.objects.filter(digest__in=set(digests)).values_list("digest", "manifest")
    found = {}
    for digest, manifest in rows:
        if text := description_of(manifest):
            found[digest] = text
    return found


def description_of(manifest: Mapping[str, Any]) -> str:
    return " ".join(str(manifest.get("description") or "").split())[:_MAX_DESCRIPTION]
