"""The files of a commit, read from its pack; nothing is run, and nothing in it is believed to be a path."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from django.conf import settings
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.pack import Pack

from registry.imports.found import Passed
from registry.limits import import_limits
from registry.packages.entries import Entry
from registry.packages.paths import shown
from registry.packages.problems import problem, refuse

_DEEPEST = 50  # folders within one another; also the tags that lead to one another


class Walk:
    """One commit's files below a path; ``passed`` fills while ``entries`` is read."""

    def __init__(self, pack: Pack, commit: str, path: str) -> None:
        self.passed: list[Passed] = []
        self._pack, self._path = pack, path
        self._top = self._tree(ObjectID(commit.encode()))
        self._count = self._bytes = 0

    def entries(self) -> Iterator[Entry]:
        tree = self._top
        for part in filter(None, self._path.split("/")):
            mode, inner = next(((m, s) for n, m, s in tree.iteritems() if n == part.encode()), (0, None))
            found = self._pack[inner] if inner and stat.S_ISDIR(mode) else None
            if not isinstance(found, Tree):
                raise refuse("GIT_PATH", path="options.path", name=self._path)
            tree = found
        yield from self._below(tree, "", 0)

    def _below(self, tree: Tree, prefix: str, depth: int) -> Iterator[Entry]:
        for name, mode, inner in tree.iteritems():
            self._count += 1
            if self._count > settings.SKILLQUAY_IMPORT_ENTRIES or depth > _DEEPEST:
                raise refuse("SOURCE_TOO_LARGE", limit=settings.SKILLQUAY_IMPORT_ENTRIES)
            path = self._named(prefix, name)
            if path is None:
                continue
            found = None if mode == 0o160000 else self._pack[inner]
            if isinstance(found, Tree) and stat.S_ISDIR(mode):
                yield from self._below(found, f"{path}/", depth + 1)
            elif isinstance(found, Blob):
                yield self._file(path, mode, found)
            else:
                self.passed.append(Passed(path, problem("GIT_SUBMODULE", path=shown(path))))

    def _named(self, prefix: str, name: bytes) -> str | None:
        try:
            text = name.decode()
        except UnicodeDecodeError:
            text = ""
        if text in ("", ".", "..") or "/" in text or "\0" in text or text.lower() == ".git":
            path = prefix + name.decode("utf-8", "replace").replace("\0", "\ufffd")
            self.passed.append(Passed(path[:1000], problem("SOURCE_NAME", path=shown(path))))
            return None
        return prefix + text

    def _file(self, path: str, mode: int, blob: Blob) -> Entry:
        data = blob.as_raw_string()
        self._bytes += len(data)
        if self._bytes > import_limits().unpacked:
            raise refuse("SOURCE_TOO_LARGE", limit=import_limits().unpacked)
        link = data.decode("utf-8", "replace") if stat.S_ISLNK(mode) else ""
        return Entry(path, data, bool(mode & 0o111) and not link, link)

    def _tree(self, name: ObjectID) -> Tree:
        for _ in range(_DEEPEST):
            found = self._pack[name]
            if isinstance(found, Tree):
                return found
            if isinstance(found, Commit):
                name = found.tree
            elif isinstance(found, Tag):
                name = found.object[1]
        raise refuse("SOURCE_ANSWER", path="location", host="git", reason="the commit has no files")
