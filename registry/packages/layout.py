"""Entries → the package's files: junk dropped, the wrapping folder taken off, SKILL.md at the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.packages.entries import Entry
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.paths import is_junk, judged_paths, plain, shown
from registry.packages.problems import Problem, Refused, problem, refuse

SKILL_MD = "SKILL.md"


@dataclass(frozen=True)
class Layout:
    """The sorted files, and the name of the folder that was around them.

    ``refused``: what keeps the package out, while the files that are left are looked at all the same.
    """

    files: tuple[PackageFile, ...]
    folder: str
    problems: tuple[Problem, ...]
    refused: tuple[Problem, ...] = ()


def lay_out(entries: Sequence[Entry], limits: Limits, *, repacked: bool = False) -> Layout:
    """Names every bad path at once. In our own ``repacked`` archives a nested SKILL.md is a plain file."""
    judged = list(judged_paths((replace(entry, path=plain(entry.path)) for entry in entries), limits))
    bad = tuple(found for _, found in judged if found)
    try:
        return _laid_out([entry for entry, found in judged if not found], bad, repacked=repacked)
    except Refused as refused:
        raise Refused(*bad, *refused.problems) from None


def _laid_out(entries: Sequence[Entry], bad: tuple[Problem, ...], *, repacked: bool) -> Layout:
    files = [entry for entry in entries if not entry.is_folder]
    kept = [entry for entry in files if not is_junk(entry.path)]
    notices = _dropped([entry.path for entry in files if is_junk(entry.path)])
    skill = _find_skill([entry.path for entry in kept], repacked=repacked)
    folder, _, name = skill.rpartition("/")
    if stray := [entry.path for entry in kept if folder and not entry.path.startswith(folder + "/")]:
        raise Refused(
            *(problem("SKILL_STRAY_FILES", path=shown(path), folder=shown(folder)) for path in stray)
        )
    if name != SKILL_MD:
        notices.append(problem("SKILL_RENAMED", path=SKILL_MD, name=shown(name)))
    prefix = len(folder) + 1 if folder else 0
    found = (
        PackageFile(
            SKILL_MD if entry.path == skill else entry.path[prefix:], entry.data or b"", entry.executable
        )
        for entry in kept
    )
    return Layout(tuple(sorted(found, key=lambda file: file.path)), folder, tuple(notices), bad)


def _dropped(paths: list[str]) -> list[Problem]:
    return [problem("FILES_DROPPED", count=len(paths), first=shown(min(paths)))] if paths else []


def _find_skill(paths: list[str], *, repacked: bool) -> str:
    found = sorted(
        path for path in paths if path.count("/") <= 1 and path.split("/")[-1].lower() == "skill.md"
    )
    if repacked and SKILL_MD in found:
        return SKILL_MD
    if not found:
        deeper = next((path for path in paths if path.split("/")[-1].lower() == "skill.md"), "")
        raise refuse("SKILL_MISSING", path=shown(deeper))
    if len(found) > 1:
        raise refuse(
            "SKILL_AMBIGUOUS", path=shown(found[1]), paths=", ".join(shown(path) for path in found[:5])
        )
    return found[0]
