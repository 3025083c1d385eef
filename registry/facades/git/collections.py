"""The marketplace of a collection: its skills as plugins, in the versions that the collection names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from registry.collections.find import find_collection, is_computed
from registry.collections.members import NamedVersion, members, named_versions
from registry.collections.states import visible_states
from registry.core.addresses import absolute_url
from registry.facades.git.history import key_of
from registry.facades.git.marketplace import (
    build_marketplace,
    description_of,
    marketplace_of,
    plugins_of,
)
from registry.facades.git.objects import BuiltRepository
from registry.facades.git.plugins import Plugin, claude_marketplace, marketplace_files, plugin_folder
from registry.identity.actors import Actor


@dataclass(frozen=True)
class CollectionCommit:
    """The plugins of one commit, and the digests of their packages. ``at`` is a Unix time."""

    at: int
    plugins: tuple[Plugin, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class CollectionMarketplace:
    name: str
    commits: tuple[CollectionCommit, ...]

    @property
    def key(self) -> str:
        rows = [[commit.at, [*map(_key, commit.plugins)], commit.digests] for commit in self.commits]
        return key_of(["collection", self.name, rows])


def collection_document(team: str, slug: str, actor: Actor) -> dict[str, Any]:
    """The marketplace of Claude Code with a repository for each plugin, at the tag of its version. Raises the
    errors of ``find_collection``.
    """
    collection = find_collection(team, slug, actor)
    if is_computed(collection):
        market = marketplace_of(team, actor)
        return claude_marketplace(market.name, plugins_of(market))
    found = named_versions(members(collection, actor))
    return claude_marketplace(_name(team, slug), [(_plugin(each), _source(each)) for each in found])


def collection_repository(team: str, slug: str, actor: Actor) -> tuple[str, Any]:
    """The key of the repository and a function that builds it. Raises the errors of ``find_collection``."""
    collection = find_collection(team, slug, actor)
    if is_computed(collection):
        market = marketplace_of(team, actor)
        return market.key, lambda: build_marketplace(market)
    commits = tuple(
        CollectionCommit(
            int(state.at.timestamp()),
            tuple(map(_plugin, state.versions)),
            tuple(each.version.digest for each in state.versions),
        )
        for state in visible_states(collection, actor)
    )
    found = CollectionMarketplace(_name(team, slug), commits)
    return found.key, lambda: build_collection(found)


def build_collection(market: CollectionMarketplace) -> BuiltRepository:
    """The repository with a commit for each state. Raises the errors of ``blobs.read``."""
    repository = BuiltRepository(market.key)
    parent = None
    for commit in market.commits:
        entries = {
            f"plugins/{plugin.name}": plugin_folder(
                repository, plugin.name, plugin.number, repository.package(digest)
            )
            for plugin, digest in zip(commit.plugins, commit.digests, strict=True)
        }
        files = marketplace_files(repository, market.name, commit.plugins)
        folder = repository.folder({**entries, **files})
        parent = repository.commit(folder, _message(commit.plugins), at=commit.at, parent=parent)
    assert parent
    return repository.point(parent)


def _name(team: str, slug: str) -> str:
    return f"{team}-{slug}"


def _plugin(named: NamedVersion) -> Plugin:
    return Plugin(named.name, named.version.number, description_of(named.version.manifest) or named.name)


def _source(named: NamedVersion) -> dict[str, str]:
    address = absolute_url(f"{named.version.skill}.plugin.git")
    return {"source": "url", "url": address, "ref": f"v{named.version.number}"}


def _message(plugins: Sequence[Plugin]) -> str:
    rows = "".join(f"- {plugin.name} {plugin.number}\n" for plugin in plugins)
    return f"{len(plugins)} skills\n\n{rows}"


def _key(plugin: Plugin) -> list[str]:
    return [plugin.name, plugin.number, plugin.description]
