"""Turns entries into the files of a package: drops junk, strips the outer folder, finds SKILL.md."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.packages import errors
from registry.packages.archive.entries import ArchiveEntry
from registry.packages.archive.paths import check_each_path, is_junk, normalize_path, printable
from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, Refusal

SKILL_MD = "SKILL.md"


@dataclass(frozen=True)
class Layout:
    """The files sorted by path, and the name of the stripped outer folder ("" if there was none).

    ``blocking_problems`` are the problems of bad paths, and ``files`` omits these paths. The package is
    refused, but its other files are still checked, so that all problems are reported at once.
    """

    files: tuple[PackageFile, ...]
    folder: str
    problems: tuple[Problem, ...]
    blocking_problems: tuple[Problem, ...] = ()


def lay_out(entries: Sequence[ArchiveEntry], limits: Limits, *, repacked: bool = False) -> Layout:
    """The layout of the entries. Bad paths become ``blocking_problems``.

    Raises Refusal if SKILL.md is missing or ambiguous, or if files are outside its folder. Set ``repacked``
    for archives made by ``repack``: then a nested SKILL.md is an ordinary file.
    """
    checked = list(
        check_each_path((replace(entry, path=normalize_path(entry.path)) for entry in entries), limits)
    )
    bad = tuple(flaw for _, flaw in checked if flaw)
    try:
        return _build_layout([entry for entry, flaw in checked if not flaw], bad, repacked=repacked)
    except Refusal as refused:
        raise Refusal(*bad, *refused.problems) from None


def _build_layout(entries: Sequence[ArchiveEntry], bad: tuple[Problem, ...], *, repacked: bool) -> Layout:
    files = [entry for entry in entries if not entry.is_folder]
    junk = {entry.path for entry in files if is_junk(entry.path)}
    files_to_keep = [entry for entry in files if entry.path not in junk]
    notices = _dropped_notices([entry.path for entry in files if entry.path in junk])
    skill = _find_skill([entry.path for entry in files_to_keep], repacked=repacked)
    folder, _, name = skill.rpartition("/")
    if stray := [entry.path for entry in files_to_keep if folder and not entry.path.startswith(folder + "/")]:
        raise Refusal(
            *(
                errors.SKILL_STRAY_FILES.problem(folder=printable(folder)).at(printable(path))
                for path in stray
            )
        )
    if name != SKILL_MD:
        notices.append(errors.SKILL_RENAMED.problem(name=printable(name)).at(SKILL_MD))
    prefix = len(folder) + 1 if folder else 0
    package_files = (
        PackageFile(
            SKILL_MD if entry.path == skill else entry.path[prefix:], entry.data or b"", entry.executable
        )
        for entry in files_to_keep
    )
    return Layout(tuple(sorted(package_files, key=lambda file: file.path)), folder, tuple(notices), bad)


def _dropped_notices(paths: list[str]) -> list[Problem]:
    return [errors.FILES_DROPPED.problem(count=len(paths), first=printable(min(paths)))] if paths else []


def _find_skill(paths: list[str], *, repacked: bool) -> str:
    candidates = sorted(
        path for path in paths if path.count("/") <= 1 and path.split("/")[-1].lower() == "skill.md"
    )
    if repacked and SKILL_MD in candidates:
        return SKILL_MD
    if not candidates:
        deeper = next((path for path in paths if path.split("/")[-1].lower() == "skill.md"), "")
        raise errors.SKILL_MISSING.refusal().at(printable(deeper))
    if len(candidates) > 1:
        raise errors.SKILL_AMBIGUOUS.refusal(paths=tuple(printable(path) for path in candidates[:5])).at(
            printable(candidates[1])
        )
    return candidates[0]
