"""A git repository over https → candidates of a branch, or of each tag that is a version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from dulwich.object_format import SHA1
from dulwich.pack import Pack

from registry.actors import Actor
from registry.imports import options as reading
from registry.imports.archives import read_entries
from registry.imports.commits import Walk
from registry.imports.credentials import credentials_for
from registry.imports.found import Found, Passed, Reading
from registry.imports.git_client import Repository, sound
from registry.imports.remembering import seen_whole
from registry.models import Source
from registry.outbound.addresses import target
from registry.packages import versions
from registry.packages.entries import Entry
from registry.packages.problems import refuse

_TAGS = 50  # the highest versions of a repository with more
_HEADS, _REFS_TAGS, _PEELED = "refs/heads/", "refs/tags/", "^{}"


@dataclass(frozen=True)
class Wanted:
    """A commit to be read, and as what."""

    commit: str  # 40 hexadecimal digits
    ref: str  # "main", "v1.2.0"; "" where the repository chose
    version: str = ""


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    location = location.removeprefix("git+")
    if urlsplit(location).scheme not in ("https", "http"):
        raise refuse(
            "SOURCE_ADDRESS",
            path="location",
            location=location[:200],
            reason="ssh, git and file addresses are not read",
            example="https://git.example/team/skills.git",
        )
    target(location)
    kept = reading.checked(options, texts=("branch", "path", "credentials"), flags=("tags",))
    if kept.get("tags") and kept.get("branch"):
        raise refuse("IMPORT_OPTION", path="options.tags", option="tags")
    if path := kept.get("path", "").strip("/"):
        kept["path"] = path
        if {"", ".", ".."} & set(path.split("/")):
            raise refuse("GIT_PATH", path="options.path", name=path)
    return location.rstrip("/"), kept


def read(source: Source, actor: Actor, scratch: Path) -> Reading:
    repository = Repository(source.location, credentials_for(source).basic())
    wanted = _wanted(repository.refs(), source.options)
    state = _state(wanted)
    if state == seen_whole(source):
        return Reading((), state, is_unchanged=True)
    fetched = repository.fetch([each.commit for each in wanted], scratch / "pack")
    return Reading(_candidates(source, fetched, wanted, scratch), state)


def head(source: Source) -> str:
    """The state of the repository now, to be held against ``Source.seen``; asks for its refs alone."""
    repository = Repository(source.location, credentials_for(source).basic())
    return _state(_wanted(repository.refs(), source.options))


def _wanted(refs: Mapping[str, str], options: Mapping[str, Any]) -> list[Wanted]:
    if options.get("tags"):
        return _tags(refs)
    branch = str(options.get("branch") or "")
    commit = refs.get(_HEADS + branch if branch else "HEAD")
    if not commit:
        raise refuse("GIT_REF", path="options.branch", what="branch", name=branch or "HEAD")
    return [Wanted(commit, branch)]


def _tags(refs: Mapping[str, str]) -> list[Wanted]:
    """The tags that are versions, lowest first, so that versions are published in their order."""
    found = {}
    for ref, commit in refs.items():
        tag = ref.removeprefix(_REFS_TAGS)
        if ref.startswith(_REFS_TAGS) and not tag.endswith(_PEELED) and (number := versions.normalise(tag)):
            found[number] = Wanted(refs.get(ref + _PEELED, commit), tag, number)
    if not found:
        raise refuse("GIT_REF", path="options.tags", what="tag", name="v1.2.3")
    return [found[number] for number in sorted(found, key=versions.precedence)][-_TAGS:]


def _state(wanted: list[Wanted]) -> str:
    if len(wanted) == 1 and not wanted[0].version:
        return wanted[0].commit
    said = "\n".join(f"{each.ref} {each.commit}" for each in wanted)
    return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"


def _candidates(
    source: Source, fetched: Path, wanted: list[Wanted], scratch: Path
) -> Iterator[Found | Passed]:
    path = str(source.options.get("path") or "")
    host = urlsplit(source.location).netloc
    for number, each in enumerate(wanted):
        with sound(host), Pack(str(fetched), object_format=SHA1) as pack:
            walk = Walk(pack, each.commit, path)
            entries = list(walk.entries())
        folder = scratch / str(number)
        folder.mkdir()
        yield from _commit(source.location, each, path, (entries, walk.passed), folder)


def _commit(
    location: str,
    wanted: Wanted,
    path: str,
    seen: tuple[list[Entry], list[Passed]],
    scratch: Path,
) -> Iterator[Found | Passed]:
    entries, passed = seen
    name = PurePosixPath(path or urlsplit(location).path).name.removesuffix(".git")
    kept = reading.provenance(repository=location, commit=wanted.commit, ref=wanted.ref, path=path)
    wrapped = [replace(entry, path=f"{name or 'repository'}/{entry.path}") for entry in entries]
    before = f"{wanted.ref}/" if wanted.version else ""
    for each in (*read_entries(wrapped, scratch, source="git", provenance=kept), *passed):
        if isinstance(each, Found):
            yield replace(each, path=before + each.path, version=wanted.version)
        else:
            yield replace(each, path=before + each.path)
