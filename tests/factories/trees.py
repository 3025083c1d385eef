"""Creates folders of skills, archives of them, and imports with their results."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.identity.actors import Actor
from registry.imports import run_import, sources
from registry.imports.candidates import SkillCandidate
from registry.imports.trees.tree import Tree, read_tree
from registry.models import Import, Source, Team


def skill_md(name: str = "", text: str = "Does something.", more: str = "") -> str:
    """The text of a SKILL.md with this name and description; ``more`` contains other lines of front
    matter.
    """
    name_line = f"name: {name}\n" if name else ""
    return f"---\n{name_line}description: {text}\n{more}---\n# Skill\n\n{text}\n"


def write_tree(top: Path, files: Mapping[str, str]) -> Path:
    """Writes the files below ``top`` and returns it; a text that starts with ``->`` makes a link."""
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("->"):
            (top / path).symlink_to(text.removeprefix("->"))
        else:
            (top / path).write_text(text)
    return top


def read_paths(top: Path, **options: Any) -> tuple[list[str], dict[str, str]]:
    """The paths of the skills in the folder, and for each skipped path the code of its reason."""
    found = list(read_tree(Tree(top, "disk", **options)))
    candidates = [each.path for each in found if isinstance(each, SkillCandidate)]
    return candidates, {each.path: each.reason.code for each in found if not isinstance(each, SkillCandidate)}


def zip_tree(files: Mapping[str, str]) -> bytes:
    """A zip of the files; a text that starts with ``->`` makes a link."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o120777 if text.startswith("->") else 0o100644) << 16
            archive.writestr(entry, text.removeprefix("->"))
    return buffer.getvalue()


def tar_tree(files: Mapping[str, str]) -> bytes:
    """A compressed tar of the files; a text that starts with ``->`` makes a link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            if text.startswith("->"):
                entry.type, entry.linkname = tarfile.SYMTYPE, text.removeprefix("->")
                archive.addfile(entry)
            else:
                data = text.encode()
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def save_folder_source(actor: Actor, team: Team, top: Path, **options: object) -> Source:
    """Saves the folder as an import source of the team."""
    source = sources.prepare_source(actor, team=team, kind="folder", location=str(top), options=options)
    return sources.save_source(source, actor)


def import_folder(actor: Actor, team: Team, top: Path, **options: object) -> Import:
    """Saves the folder as a source, imports it and returns the report."""
    return run_import.import_now(save_folder_source(actor, team, top, **options), actor)


def outcomes(report: Import) -> dict[str, str]:
    """The outcome of each path of the import."""
    return {row.path: row.outcome for row in report.rows.order_by("pk")}


def problem_codes(report: Import) -> dict[str, list[str]]:
    """The codes of the problems of each path of the import."""
    return {row.path: [each["code"] for each in row.problems] for row in report.rows.all()}
