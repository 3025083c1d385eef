"""Reads the files of a commit from a pack. Names are validated before they are used as paths."""

import stat
from collections.abc import Iterator

from django.conf import settings
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.pack import Pack

from registry.core.limits import import_limits
from registry.imports.candidates import SkippedPath
from registry.imports.readers.errors import (
    GIT_PATH,
    GIT_SUBMODULE,
    SOURCE_ANSWER,
    SOURCE_NAME,
    SOURCE_TOO_LARGE,
)
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.paths import printable
from registry.packages.problems import gettext_noop

_MAX_DEPTH = 50  # maximum depth of folders, and of tags that point to tags


class CommitWalk:
    """Reads a commit's files below ``path``. ``skipped`` is complete after ``entries`` is consumed.
    ``entries`` raises GIT_PATH if ``path`` is not a folder, and SOURCE_TOO_LARGE above the import limits.
    """

    def __init__(self, pack: Pack, commit: str, path: str) -> None:
        self.skipped: list[SkippedPath] = []
        self._pack, self._path = pack, path
        self._top = self._tree(ObjectID(commit.encode()))
        self._count = self._bytes = 0

    def entries(self) -> Iterator[ArchiveEntry]:
        tree = self._top
        for part in filter(None, self._path.split("/")):
            mode, inner = next(((m, s) for n, m, s in tree.iteritems() if n == part.encode()), (0, None))
            found = self._pack[inner] if inner and stat.S_ISDIR(mode) else None
            if not isinstance(found, Tree):
                raise GIT_PATH.refusal(name=self._path).at("options.path")
            tree = found
        yield from self._below(tree, "", 0)

    def _below(self, tree: Tree, prefix: str, depth: int) -> Iterator[ArchiveEntry]:
        for name, mode, inner in tree.iteritems():
            self._count += 1
            if depth > _MAX_DEPTH:
                raise SOURCE_TOO_LARGE.refusal(
                    limit=_MAX_DEPTH, unit=gettext_noop("levels of nested folders")
                )
            if self._count > settings.SKILLQUAY_MAX_IMPORT_ENTRIES:
                raise SOURCE_TOO_LARGE.refusal(
                    limit=settings.SKILLQUAY_MAX_IMPORT_ENTRIES, unit=gettext_noop("files and folders")
                )
            path = self._checked_path(prefix, name)
            if path is None:
                continue
            found = None if mode == 0o160000 else self._pack[inner]
            if isinstance(found, Tree) and stat.S_ISDIR(mode):
                yield from self._below(found, f"{path}/", depth + 1)
            elif isinstance(found, Blob):
                yield self._file(path, mode, found)
            else:
                self.skipped.append(SkippedPath(path, GIT_SUBMODULE.problem().at(printable(path))))

    def _checked_path(self, prefix: str, name: bytes) -> str | None:
        try:
            text = name.decode()
        except UnicodeDecodeError:
            text = ""
        if text in ("", ".", "..") or "/" in text or "\0" in text or text.lower() == ".git":
            path = prefix + name.decode("utf-8", "replace").replace("\0", "\ufffd")
            self.skipped.append(SkippedPath(path[:1000], SOURCE_NAME.problem().at(printable(path))))
            return None
        return prefix + text

    def _file(self, path: str, mode: int, blob: Blob) -> ArchiveEntry:
        data = blob.as_raw_string()
        self._bytes += len(data)
        if self._bytes > import_limits().unpacked:
            raise SOURCE_TOO_LARGE.refusal(limit=import_limits().unpacked, unit=gettext_noop("bytes"))
        link = data.decode("utf-8", "replace") if stat.S_ISLNK(mode) else ""
        return ArchiveEntry(path, data, bool(mode & 0o111) and not link, link)

    def _tree(self, name: ObjectID) -> Tree:
        for _ in range(_MAX_DEPTH):
            found = self._pack[name]
            if isinstance(found, Tree):
                return found
            if isinstance(found, Commit):
                name = found.tree
            elif isinstance(found, Tag):
                name = found.object[1]
        reason = gettext_noop("the commit has no files")
        raise SOURCE_ANSWER.refusal(host="git", reason=reason).at("location")
