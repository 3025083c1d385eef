"""A folder of this machine, a checkout or an unpacked archive → candidates: roots, agents, commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from registry.imports import agents, commands, roots
from registry.imports.found import Found, Passed
from registry.imports.looking import Candidate, Look, passed, skill_md
from registry.packages.problems import refuse

_CLAUDE = ".claude"


@dataclass(frozen=True)
class Tree:
    """What to read of a folder, and how far to trust it."""

    folder: Path
    source: str  # Skill.source of what is found: disk, git, archive, address
    provenance: Mapping[str, str] = field(default_factory=dict)
    name: str = ""  # of the folder itself, where it is a skill and its own name says nothing
    paths: tuple[str, ...] = ()  # further roots
    deep: bool = False  # every folder with a SKILL.md counts, wherever it lies; so for checkouts and archives
    above: bool = False  # also what holds in the folder from above: parents up to home, user, managed
    is_tracked: bool = False  # a checkout or an archive: .gitignore took its effect, and nothing leads out
    allow_external: bool = False  # paths and links may lead out of the folder


def read_tree(tree: Tree) -> Iterator[Found | Passed]:
    """A candidate for each skill and the reason for each folder that was passed by, in order."""
    if not tree.folder.is_dir():
        raise refuse("IMPORT_LOCATION", location=str(tree.folder), reason="it is no folder")
    return _once(list(_Reader(tree).everything()))


def _once(seen: list[Candidate | Passed]) -> Iterator[Found | Passed]:
    """The same file reached twice is one candidate: where it really lies, else where it was seen first."""
    first: dict[Path, Candidate] = {}
    for each in seen:
        if isinstance(each, Candidate):
            known = first.setdefault(each.file, each)
            if known.is_linked and not each.is_linked:
                first[each.file] = each
    for each in seen:
        if isinstance(each, Passed):
            yield each
        elif (known := first[each.file]) is each:
            yield each.found
        elif known.found.path != each.found.path:
            yield passed(each.found.path, "IMPORT_SAME_FILE", other=known.found.path)


class _Reader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.top = Path(os.path.abspath(tree.folder))
        self.settings = roots.read_settings(self.top)
        self.above = tuple(roots.above(self.top)) if tree.above else ()
        self.look = Look(
            tree.source,
            tree.provenance,
            self.top,
            beside=self.above,
            is_tracked=tree.is_tracked,
            allow_external=not tree.is_tracked and (tree.allow_external or self.settings.allow_external),
        )
        self.read_roots: set[Path] = set()
        self.agents: list[Path] = []

    def everything(self) -> Iterator[Candidate | Passed]:
        yield from self._named()
        yield from self._top()
        for root in self.above:
            if root.is_dir():
                yield from self._root(root)
        yield from agents.read(self.agents, self.look)

    def _named(self) -> Iterator[Candidate | Passed]:
        """The roots that settings or the option name."""
        if self.settings.is_broken:
            yield passed(roots.SETTINGS, "IMPORT_SETTINGS")
        for path in (*self.settings.paths, *self.tree.paths):
            root = roots.located(path, self.top)
            if not self.look.allows(root):
                yield passed(path, "IMPORT_OUTSIDE")
            elif root.is_dir():
                yield from self._root(Path(os.path.normpath(root)))
            else:
                yield passed(path, "IMPORT_ROOT_MISSING")

    def _top(self) -> Iterator[Candidate | Passed]:
        """What the folder itself is: a skill, a root, commands, and a project with all these below it."""
        if skill_md(self.top):
            yield self.look.skill(self.top, name=self.tree.name)
        if roots.is_root(self.top):
            yield from self._root(self.top)
        elif self.top.name == _CLAUDE:
            yield from self._claude(self.top)
        own = self.top.name == commands.FOLDER
        yield from commands.read(self.top if own else self.top / commands.FOLDER, self.look)
        yield from self._below(self.top)

    def _below(self, folder: Path) -> Iterator[Candidate | Passed]:
        """Roots, agents and commands anywhere below, but not within a skill."""
        for item in self.look.children(folder):
            path = folder / item.name
            if not item.is_dir(follow_symlinks=item.name in (_CLAUDE, roots.SKILLS)):
                continue
            if item.name == _CLAUDE:
                yield from self._claude(path)
            elif not item.name.startswith(".") and not self.look.ignores(path, is_folder=True):
                yield from self._deeper(path)

    def _deeper(self, path: Path) -> Iterator[Candidate | Passed]:
        if path.name == roots.SKILLS:
            yield from self._allowed(path, self._root)
        elif not skill_md(path):
            yield from self._below(path)
        elif path.parent in self.read_roots:
            return
        elif self.tree.deep:
            yield self.look.skill(path)
        else:
            yield passed(self.look.label(path), "IMPORT_NOT_IN_ROOT")

    def _claude(self, folder: Path) -> Iterator[Candidate | Passed]:
        if folder != self.top and agents.is_agent(folder.parent):
            self.agents.append(folder.parent)
        if (folder / roots.SKILLS).is_dir():
            yield from self._allowed(folder / roots.SKILLS, self._root)
        if (folder / commands.FOLDER).is_dir():
            yield from self._allowed(folder / commands.FOLDER, lambda path: commands.read(path, self.look))

    def _allowed(
        self, folder: Path, read: Callable[[Path], Iterator[Candidate | Passed]]
    ) -> Iterator[Candidate | Passed]:
        if not self.look.allows(folder):
            yield passed(self.look.label(folder), "IMPORT_OUTSIDE")
        elif self.look.ignores(folder, is_folder=True):
            yield passed(self.look.label(folder), "IMPORT_IGNORED")
        else:
            yield from read(folder)

    def _root(self, root: Path) -> Iterator[Candidate | Passed]:
        """``<name>/SKILL.md`` folders and links to such; where a folder is none, what lies below it."""
        if root in self.read_roots:
            return
        self.read_roots.add(root)
        for item in self.look.children(root):
            path = root / item.name
            if reason := self._against(item, path):
                yield passed(self.look.label(path), reason)
            elif item.is_dir() and skill_md(path):
                yield self.look.skill(path)
            elif item.is_dir() and item.name != _CLAUDE and not (self.tree.deep and _leads_on(path)):
                yield passed(self.look.label(path), "IMPORT_NO_SKILL_MD")
        if root != self.top and not self.look.is_linked(root):
            yield from self._below(root)

    def _against(self, item: os.DirEntry[str], path: Path) -> str:
        """The code of what speaks against an entry of a root."""
        if not item.is_dir():
            if item.is_symlink():
                return "IMPORT_LINK_BROKEN"
            return "IMPORT_NO_FOLDER" if self._is_single(path) else ""
        if item.name.startswith(".") and item.name != _CLAUDE:
            return "IMPORT_HIDDEN"
        if item.is_symlink() and not self.look.allows(path):
            return "IMPORT_OUTSIDE"
        return "IMPORT_IGNORED" if self.look.ignores(path, is_folder=True) else ""

    def _is_single(self, file: Path) -> bool:
        """A text that somebody may take for a skill; beside an agent's scripts it is their documentation."""
        agent = file.parent.parent.parent
        return (
            file.suffix == ".md" and file.stem.lower() not in ("readme", "skill") and agent not in self.agents
        )


def _leads_on(folder: Path) -> bool:
    """Whether something below it is read, where skills may lie at any depth."""
    return any(
        _CLAUDE in folders or any(name.lower() == "skill.md" for name in names)
        for _folder, folders, names in os.walk(folder)
    )
