"""Reads candidates from a git repository over HTTPS: from one branch, or from the highest version tags."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from dulwich.object_format import SHA1
from dulwich.pack import Pack

from registry.http_client.addresses import parse_target
from registry.identity.actors import Actor
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath, SourceContent
from registry.imports.clients.credentials import load_url_credentials
from registry.imports.clients.git import Repository, refuse_invalid_data
from registry.imports.clients.git_commits import CommitWalk
from registry.imports.errors import IMPORT_OPTION
from registry.imports.readers import options as reading
from registry.imports.readers.errors import GIT_PATH, GIT_REF, SOURCE_ADDRESS
from registry.imports.source_state import last_complete_state
from registry.imports.trees.archives import read_entries
from registry.models import Source
from registry.packages import version_numbers
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.problems import LazyMessage, gettext_noop

_MAX_TAGS = 50  # only the highest versions are read
_HEADS, _REFS_TAGS, _PEELED = "refs/heads/", "refs/tags/", "^{}"


@dataclass(frozen=True)
class CommitToRead:
    """A commit to read, with the branch or tag that names it. ``version`` is set only for a tag."""

    commit: str  # 40 hexadecimal digits
    ref: str  # "main", "v1.2.0"; "" for the default branch
    version: str = ""


def check(location: str, options: Mapping[str, Any], actor: Actor) -> tuple[str, dict[str, Any]]:
    location = location.removeprefix("git+")
    if location.partition("://")[0].lower() not in ("https", "http"):
        raise SOURCE_ADDRESS.refusal(
            location=location[:200],
            reason=gettext_noop("only HTTPS addresses are supported"),
            example="https://git.example/team/skills.git",
        ).at("location")
    parse_target(location)
    checked = reading.validate_options(options, texts=("branch", "path", "credentials"), flags=("tags",))
    if checked.get("tags") and checked.get("branch"):
        raise IMPORT_OPTION.refusal(option="tags").at("options.tags")
    if path := checked.get("path", "").strip("/"):
        checked["path"] = path
        if {"", ".", ".."} & set(path.split("/")):
            raise GIT_PATH.refusal(name=path).at("options.path")
    return location.rstrip("/"), checked


def read(source: Source, actor: Actor, scratch: Path, progress: ReadProgress) -> SourceContent:
    credentials = load_url_credentials(source)
    repository = Repository(source.location, credentials.basic(), on_read=progress.add_bytes)
    commits = _commits_to_read(repository.refs(), source.options)
    state = _state(commits)
    if state == last_complete_state(source):
        return SourceContent((), state, is_unchanged=True)
    fetched = repository.fetch([each.commit for each in commits], scratch / "pack")
    return SourceContent(_candidates(source, fetched, commits, scratch), state)


def current_state(source: Source) -> str:
    """The repository's revision in the form of ``Source.last_revision``. Requests only the refs. Raises
    GIT_REF if the branch or tags do not exist, and the errors of ``Repository`` and
    ``load_url_credentials``.
    """
    repository = Repository(source.location, load_url_credentials(source).basic())
    return _state(_commits_to_read(repository.refs(), source.options))


def _commits_to_read(refs: Mapping[str, str], options: Mapping[str, Any]) -> list[CommitToRead]:
    if options.get("tags"):
        return _version_tags(refs)
    branch = str(options.get("branch") or "")
    commit = refs.get(_HEADS + branch if branch else "HEAD")
    if not commit:
        raise GIT_REF.refusal(what="branch", name=branch or "HEAD").at("options.branch")
    return [CommitToRead(commit, branch)]


def _version_tags(refs: Mapping[str, str]) -> list[CommitToRead]:
    """The commits of the ``_MAX_TAGS`` highest version tags, lowest first, so that they are published in
    order. Raises GIT_REF if there are none.
    """
    found = {}
    for ref, commit in refs.items():
        tag = ref.removeprefix(_REFS_TAGS)
        if (
            ref.startswith(_REFS_TAGS)
            and not tag.endswith(_PEELED)
            and (number := version_numbers.normalise(tag))
        ):
            found[number] = CommitToRead(refs.get(ref + _PEELED, commit), tag, number)
    if not found:
        example = LazyMessage(gettext_noop("such as v1.2.3"))
        raise GIT_REF.refusal(what="tag", name=example).at("options.tags")
    return [found[number] for number in sorted(found, key=version_numbers.precedence)][-_MAX_TAGS:]


def _state(commits: list[CommitToRead]) -> str:
    if len(commits) == 1 and not commits[0].version:
        return commits[0].commit
    refs = "\n".join(f"{each.ref} {each.commit}" for each in commits)
    return f"sha256:{hashlib.sha256(refs.encode()).hexdigest()}"


def _candidates(
    source: Source, fetched: Path, commits: list[CommitToRead], scratch: Path
) -> Iterator[SkillCandidate | SkippedPath]:
    path = str(source.options.get("path") or "")
    host = urlsplit(source.location).netloc
    for number, each in enumerate(commits):
        with refuse_invalid_data(host), Pack(str(fetched), object_format=SHA1) as pack:
            walk = CommitWalk(pack, each.commit, path)
            entries = list(walk.entries())
        folder = scratch / str(number)
        folder.mkdir()
        yield from _commit_candidates(source.location, each, path, (entries, walk.skipped), folder)


def _commit_candidates(
    location: str,
    commit: CommitToRead,
    path: str,
    content: tuple[list[ArchiveEntry], list[SkippedPath]],
    scratch: Path,
) -> Iterator[SkillCandidate | SkippedPath]:
    entries, skipped = content
    name = PurePosixPath(path or urlsplit(location).path).name.removesuffix(".git")
    provenance = reading.provenance(repository=location, commit=commit.commit, ref=commit.ref, path=path)
    wrapped = [replace(entry, path=f"{name or 'repository'}/{entry.path}") for entry in entries]
    prefix = f"{commit.ref}/" if commit.version else ""
    for each in (*read_entries(wrapped, scratch, source="git", provenance=provenance), *skipped):
        if isinstance(each, SkillCandidate):
            yield replace(each, path=prefix + each.path, version=commit.version)
        else:
            yield replace(each, path=prefix + each.path)
