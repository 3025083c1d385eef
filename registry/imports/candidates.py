"""The types that source readers return. A reader returns a candidate for each folder or file that may be a
skill.

Each kind of source has a module in ``readers`` (folder, archive, url, git, mcp) with two functions:

    check(location, options, actor) -> (location, options)   validated; raises Refusal
    read(source, actor, scratch, progress) -> SourceContent  ``scratch``: an empty folder that exists until
                                                             the last candidate is read
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from registry.packages.archive.entries import ArchiveEntry
from registry.packages.problems import Problem


class ReadProgress:
    """Counts the bytes that a reader receives from its source, and the candidates checked afterwards."""

    def __init__(self) -> None:
        self.read_bytes = self.checked = 0

    def add_bytes(self, count: int) -> None:
        self.read_bytes += count
        self.changed()

    def add_checked(self) -> None:
        self.checked += 1
        self.changed()

    def changed(self) -> None:
        """Called after each change. Does nothing here; may raise to stop the import."""


@dataclass(frozen=True)
class SkillCandidate:
    """A possible skill whose files are not read yet.

    ``read`` returns the files with SKILL.md at the root. It raises Refusal with the problems for the report
    row.
    """

    path: str  # path in the source with "/"; identifies the report row
    source: str  # Skill.source: disk, commands, git, archive, url, mcp
    read: Callable[[], Sequence[ArchiveEntry]]
    name: str  # folder or file name, for skills without a name
    depth: int = 0  # of candidates with the same slug, the deepest wins
    provenance: Mapping[str, str] = field(default_factory=dict)  # repository, commit, url, server …
    # from a git tag, for skills without a version; candidates of different versions may share a slug
    version: str = ""


@dataclass(frozen=True)
class SkippedPath:
    """A folder or file that is not a candidate, and the reason for the report row."""

    path: str
    reason: Problem


@dataclass(frozen=True)
class SourceContent:
    """The content of a source. ``state`` is its revision: a commit, an ETag or a digest; "" for a folder."""

    items: Iterable[SkillCandidate | SkippedPath]
    state: str = ""
    is_unchanged: bool = False  # same state as at the last import; nothing was read
