"""Builds the objects of a repository in memory. The same input gives the same object ids on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref

from registry.facades.git.upload_pack import ServedRepo
from registry.packages.archive.repack import read_repacked
from registry.storage import blobs

MAIN = Ref(b"refs/heads/main")
_AUTHOR = b"Skillquay <skillquay@localhost>"
_FILE, _PROGRAM, _FOLDER = 0o100644, 0o100755, 0o040000
Entry = tuple[int, ObjectID]  # mode and object


class BuiltRepository:
    """A repository in memory. ``size`` is the number of bytes of its objects; ``key`` identifies its
    content.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.repo = ServedRepo()
        self.size = 0
        self._packages: dict[str, ObjectID] = {}
        self.repo.refs.set_symbolic_ref(Ref(b"HEAD"), MAIN)

    def file(self, data: bytes, *, executable: bool = False) -> Entry:
        return (_PROGRAM if executable else _FILE), self._add(Blob.from_string(data))

    def folder(self, entries: Mapping[str, Entry]) -> Entry:
        """A folder with these entries by path. An entry is a file or another folder."""
        direct: dict[str, Entry] = {}
        nested: dict[str, dict[str, Entry]] = {}
        for path, entry in entries.items():
            name, slash, rest = path.partition("/")
            if slash:
                nested.setdefault(name, {})[rest] = entry
            else:
                direct[name] = entry
        tree = Tree()
        for name, entry in {**direct, **{n: self.folder(rows) for n, rows in nested.items()}}.items():
            tree.add(name.encode(), *entry)
        return _FOLDER, self._add(tree)

    def package(self, digest: str) -> Entry:
        """The folder with the files of the package, read once. Raises the errors of ``blobs.read``."""
        if digest not in self._packages:
            files = read_repacked(blobs.read(digest))
            rows = {file.path: self.file(file.data, executable=file.executable) for file in files}
            self._packages[digest] = self.folder(rows)[1]
        return _FOLDER, self._packages[digest]

    def commit(self, folder: Entry, message: str, *, at: int, parent: ObjectID | None) -> ObjectID:
        """A commit by a fixed author at the Unix time ``at``."""
        commit = Commit()
        commit.tree, commit.parents = folder[1], [parent] if parent else []
        commit.author = commit.committer = _AUTHOR
        commit.author_time = commit.commit_time = at
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding, commit.message = b"UTF-8", message.encode()
        return self._add(commit)

    def point(self, main: ObjectID, tags: Iterable[tuple[str, ObjectID]] = ()) -> Self:
        """Sets the branch ``main`` and the tags. Returns the repository."""
        self.repo.refs[MAIN] = main
        for name, commit in tags:
            self.repo.refs[Ref(f"refs/tags/{name}".encode())] = commit
        return self

    def _add(self, item: ShaFile) -> ObjectID:
        if item.id not in self.repo.object_store:
            self.repo.object_store.add_object(item)
            self.size += item.raw_length()
        return item.id
