"""The repository of one skill: a commit for each version, a tag for each usable one, and ``main`` at the
latest.

Commits are in the order of publication, so each new version adds a commit and never changes an earlier one. A
yanked version keeps its commit, although neither ``main`` nor a tag names the version. Removing the commit
would change all later commits, and ``git pull`` would fail.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from dulwich.objects import ObjectID

from registry.core.errors import NOT_FOUND
from registry.facades.git.objects import BuiltRepository
from registry.facades.git.plugins import plugin_folder
from registry.identity.actors import Actor
from registry.models import Skill, Version

SEGMENT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class HistoryEntry:
    """A version in a history. ``size`` is the size of its archive in bytes; ``at`` is the Unix time at
    which it became available.
    """

    key: int
    number: str
    precedence: str
    digest: str
    size: int
    at: int
    yanked_at: int | None

    @property
    def message(self) -> str:
        return f"{self.number}\n\nVersion: {self.number}\nDigest: {self.digest}\n"


@dataclass(frozen=True)
class History:
    """The releases of a skill in order. ``tagged`` and ``main`` are keys of releases; ``name`` is the
    requested slug.
    """

    name: str
    releases: tuple[HistoryEntry, ...]
    tagged: tuple[int, ...]
    main: int

    def key(self, *, as_plugin: bool) -> str:
        return key_of([self.name if as_plugin else "", asdict(self)])


def history_of(skill: Skill, actor: Actor) -> History:
    """The history that the actor may see, without the oldest versions above the limit of ``size_start``. The
    history of a canonical skill ends at its pinned version, which is its only tag. Raises NOT_FOUND if the
    latest or the pinned version is not usable.
    """
    canonical = skill.resolved_canonical
    rows = list(releases_of(skill.versions.visible_to(actor)))
    name, main = skill.slug, skill.latest_id
    if canonical and canonical.version_id:
        name, main = canonical.slug, canonical.version_id
        end = next((at for at, row in enumerate(rows) if row.key == main), -1)
        rows = rows[: end + 1]
    keys = [row.key for row in rows]
    start = size_start([row.size for row in rows])
    rows = rows[min(start, keys.index(main)) if main in keys else start :]
    usable = [row.key for row in rows if row.yanked_at is None]
    if main not in usable:
        raise NOT_FOUND.refusal(what="skill", name=str(skill))
    assert main is not None
    return History(name, tuple(rows), (main,) if canonical else tuple(usable), main)


def releases_of(versions: Iterable[Version]) -> Iterable[HistoryEntry]:
    """The releases of these versions that are not held, in the order in which they became available."""
    fields = (
        "pk",
        "number",
        "precedence",
        "digest",
        "archive_size",
        "created_at",
        "released_at",
        "yanked_at",
    )
    rows = versions.unheld().values_list(*fields)  # type: ignore[attr-defined]
    found = [
        HistoryEntry(
            key,
            number,
            precedence,
            digest,
            size,
            int((released or created).timestamp()),
            int(yanked.timestamp()) if yanked else None,
        )
        for key, number, precedence, digest, size, created, released, yanked in rows
    ]
    return sorted(found, key=lambda row: (row.at, row.key))


def size_start(sizes: Sequence[int]) -> int:
    """The index of the first release to include, so that all archives have at most twice SEGMENT_BYTES. The
    index changes only once per SEGMENT_BYTES of new archives.
    """
    segments = [total // SEGMENT_BYTES for total in accumulate(sizes)]
    return next((at for at, segment in enumerate(segments) if segment >= segments[-1] - 1), 0)


def build_history(history: History, *, as_plugin: bool) -> BuiltRepository:
    """The repository with the package at its top or, with ``as_plugin``, as a plugin with one skill. Raises
    the errors of ``blobs.read``.
    """
    repository = BuiltRepository(history.key(as_plugin=as_plugin))
    commits: dict[int, ObjectID] = {}
    parent = None
    for row in history.releases:
        folder = repository.package(row.digest)
        if as_plugin:
            folder = plugin_folder(repository, history.name, row.number, folder)
        parent = commits[row.key] = repository.commit(folder, row.message, at=row.at, parent=parent)
    tags = [(f"v{row.number}", commits[row.key]) for row in history.releases if row.key in history.tagged]
    return repository.point(commits[history.main], tags)


def key_of(document: object) -> str:
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()
