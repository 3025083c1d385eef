"""What a reader hands to the engine: a candidate for each folder or file that may be a skill.

Each kind of source has a module of its name in this room (folder, archive, address, git, mcp) with two verbs:

    check(location, options, actor) -> (location, options)   what may be kept of them, or Refused
    read(source, actor, scratch) -> Reading                  ``scratch``: an empty folder that lasts until the
                                                             last candidate is read, then goes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from registry.packages.entries import Entry
from registry.packages.problems import Problem


@dataclass(frozen=True)
class Found:
    """One candidate, not read yet.

    ``read`` answers its files, SKILL.md at their root, and may raise Refused: that becomes its row.
    """

    path: str  # within the source, "/" between its parts; one row of the report
    source: str  # Skill.source: disk, commands, git, archive, address, mcp
    read: Callable[[], Sequence[Entry]]
    name: str  # what a skill is called that does not say so itself: its folder's or file's name
    depth: int = 0  # of two with one slug the deeper wins
    provenance: Mapping[str, str] = field(default_factory=dict)  # repository, commit, address, server …
    version: str = ""  # of a skill that names none: a tag's. One slug in two versions is no conflict


@dataclass(frozen=True)
class Passed:
    """A folder or file that was seen and is no candidate, and why."""

    path: str
    reason: Problem


@dataclass(frozen=True)
class Reading:
    """All that a source holds. ``seen`` names its state: a commit, an etag or a digest, "" for none."""

    found: Iterable[Found | Passed]
    seen: str = ""
    is_unchanged: bool = False  # the state is the one read last: nothing was read, the report has no rows
