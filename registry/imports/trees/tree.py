"""Finds candidates in a folder, a checkout or an unpacked archive: skill roots, agents and commands."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from registry.imports import errors
from registry.imports.candidates import SkillCandidate, SkippedPath
from registry.imports.trees import agents, commands, roots
from registry.imports.trees.source_view import LocatedCandidate, SourceView, skill_md, skipped_path
from registry.packages.problems import Problem, gettext_noop

_CLAUDE = ".claude"


@dataclass(frozen=True)
class Tree:
    """A folder to read, and the options that decide which roots to read and which paths to trust."""

    folder: Path
    source: str  # Skill.source of its skills: disk, git, archive, url
    provenance: Mapping[str, str] = field(default_factory=dict)
    name: str = ""  # the skill's name if the folder itself is a skill and has an arbitrary folder name
    paths: tuple[str, ...] = ()  # further roots
    deep: bool = False  # finds a SKILL.md in any folder, as needed for checkouts and archives
    above: bool = False  # also reads roots that the folder inherits: parents up to home, user, managed
    is_tracked: bool = False  # a checkout or an archive, to which .gitignore was already applied
    allow_external: bool = False  # paths and links may point outside the folder


def read_tree(tree: Tree) -> Iterator[SkillCandidate | SkippedPath]:
    """Yields a candidate for each skill of the tree, and skipped paths. Raises IMPORT_LOCATION for a folder
    that can't be read, and IMPORT_TOO_LARGE above the limit of entries.
    """
    if not tree.folder.is_dir():
        reason = gettext_noop("it is not a folder")
        raise errors.IMPORT_LOCATION.refusal(location=str(tree.folder), reason=reason)
    return _deduplicate(list(_Reader(tree).read_all()))


def _deduplicate(items: list[LocatedCandidate | SkippedPath]) -> Iterator[SkillCandidate | SkippedPath]:
    """Yields one candidate per SKILL.md or script, and skipped paths for the duplicates. Prefers a path
    without links, then the first path.
    """
    first: dict[Path, LocatedCandidate] = {}
    for each in items:
        if isinstance(each, LocatedCandidate):
            known = first.setdefault(each.file, each)
            if known.is_linked and not each.is_linked:
                first[each.file] = each
    for each in items:
        if isinstance(each, SkippedPath):
            yield each
        elif (known := first[each.file]) is each:
            yield each.candidate
        elif known.candidate.path != each.candidate.path:
            yield skipped_path(
                each.candidate.path, errors.IMPORT_SAME_FILE.problem(other=known.candidate.path)
            )


class _Reader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.top = Path(os.path.abspath(tree.folder))
        self.settings = roots.read_settings(
            self.top, allow_external=tree.allow_external and not tree.is_tracked
        )
        self.above = tuple(roots.inherited_roots(self.top)) if tree.above else ()
        self.view = SourceView(
            tree.source,
            tree.provenance,
            self.top,
            extra_bases=self.above,
            is_tracked=tree.is_tracked,
            allow_external=not tree.is_tracked and (tree.allow_external or self.settings.allow_external),
        )
        self.read_roots: set[Path] = set()
        self.agents: list[Path] = []

    def read_all(self) -> Iterator[LocatedCandidate | SkippedPath]:
        yield from self._configured_roots()
        yield from self._top()
        for root in self.above:
            if root.is_dir():
                yield from self._root(root)
        yield from agents.read(self.agents, self.view)

    def _configured_roots(self) -> Iterator[LocatedCandidate | SkippedPath]:
        if self.settings.is_broken:
            yield skipped_path(roots.SETTINGS, errors.IMPORT_SETTINGS.problem())
        for path in (*self.settings.paths, *self.tree.paths):
            root = roots.locate_root(path, self.top)
            if not self.view.allows(root):
                yield skipped_path(path, errors.IMPORT_OUTSIDE.problem())
            elif self.view.is_folder(root):
                yield from self._root(Path(os.path.normpath(root)))
            else:
                yield skipped_path(path, errors.IMPORT_ROOT_MISSING.problem())

    def _top(self) -> Iterator[LocatedCandidate | SkippedPath]:
        """Yields the candidates of the top folder, which can be a skill, a root or a commands folder, and
        those at any depth below it.
        """
        if skill_md(self.top):
            yield self.view.skill(self.top, name=self.tree.name)
        if roots.is_root(self.top, self.view.is_folder):
            yield from self._root(self.top)
        elif self.top.name == _CLAUDE:
            yield from self._claude(self.top)
        own = self.top.name == commands.FOLDER
        yield from commands.read(self.top if own else self.top / commands.FOLDER, self.view)
        yield from self._below(self.top)

    def _below(self, folder: Path) -> Iterator[LocatedCandidate | SkippedPath]:
        """Yields the candidates at any depth below the folder, except within skills, and adds agent folders
        to ``agents``.
        """
        for item in self.view.children(folder):
            path = folder / item.name
            if item.name in (_CLAUDE, roots.SKILLS) and item.is_symlink():
                if not self.view.allows(path):
                    yield skipped_path(self.view.label(path), errors.IMPORT_OUTSIDE.problem())
                if not self.view.is_folder(path):
                    continue
            elif not item.is_dir(follow_symlinks=False):
                continue
            if item.name == _CLAUDE:
                yield from self._claude(path)
            elif not item.name.startswith(".") and not self.view.ignores(path, is_folder=True):
                yield from self._deeper(path)

    def _deeper(self, path: Path) -> Iterator[LocatedCandidate | SkippedPath]:
        if path.name == roots.SKILLS:
            yield from self._allowed(path, self._root)
        elif not skill_md(path):
            yield from self._below(path)
        elif path.parent in self.read_roots:
            return
        elif self.tree.deep:
            yield self.view.skill(path)
        else:
            yield skipped_path(self.view.label(path), errors.IMPORT_NOT_IN_ROOT.problem())

    def _claude(self, folder: Path) -> Iterator[LocatedCandidate | SkippedPath]:
        if folder != self.top and agents.is_agent(folder.parent, self.view):
            self.agents.append(folder.parent)
        yield from self._allowed(folder / roots.SKILLS, self._root)
        yield from self._allowed(folder / commands.FOLDER, lambda path: commands.read(path, self.view))

    def _allowed(
        self, folder: Path, read: Callable[[Path], Iterator[LocatedCandidate | SkippedPath]]
    ) -> Iterator[LocatedCandidate | SkippedPath]:
        if not self.view.allows(folder):
            yield skipped_path(self.view.label(folder), errors.IMPORT_OUTSIDE.problem())
        elif not self.view.is_folder(folder):
            return
        elif self.view.ignores(folder, is_folder=True):
            yield skipped_path(self.view.label(folder), errors.IMPORT_IGNORED.problem())
        else:
            yield from read(folder)

    def _root(self, root: Path) -> Iterator[LocatedCandidate | SkippedPath]:
        """Yields the skill folders of a root, including linked ones, and the candidates further below. A root
        is read only once.
        """
        if root in self.read_roots:
            return
        self.read_roots.add(root)
        for item in self.view.children(root):
            path = root / item.name
            if reason := self._rejection(item, path):
                yield skipped_path(self.view.label(path), reason)
            elif not self.view.is_folder(path):
                continue
            elif skill_md(path):
                yield self.view.skill(path)
            elif item.name != _CLAUDE and not (self.tree.deep and _contains_skills(path)):
                yield skipped_path(self.view.label(path), errors.IMPORT_NO_SKILL_MD.problem())
        if root != self.top and not self.view.is_linked(root):
            yield from self._below(root)

    def _rejection(self, item: os.DirEntry[str], path: Path) -> Problem | None:
        """The reason to skip this entry of a root; None if the entry is read or silently ignored."""
        if item.is_symlink() and not self.view.allows(path):
            return errors.IMPORT_OUTSIDE.problem()
        if not self.view.is_folder(path):
            if item.is_symlink():
                return errors.IMPORT_LINK_BROKEN.problem()
            return errors.IMPORT_NO_FOLDER.problem() if self._looks_like_skill(path) else None
        if item.name.startswith(".") and item.name != _CLAUDE:
            return errors.IMPORT_HIDDEN.problem()
        return errors.IMPORT_IGNORED.problem() if self.view.ignores(path, is_folder=True) else None

    def _looks_like_skill(self, file: Path) -> bool:
        """Whether the author may have meant this file as a skill. False for files next to an
        agent's scripts.
        """
        agent = file.parent.parent.parent
        return (
            file.suffix == ".md" and file.stem.lower() not in ("readme", "skill") and agent not in self.agents
        )


def _contains_skills(folder: Path) -> bool:
    """Whether the folder contains a SKILL.md or a ``.claude`` folder, at any depth."""
    return any(
        _CLAUDE in folders or any(name.lower() == "skill.md" for name in names)
        for _folder, folders, names in os.walk(folder)
    )
