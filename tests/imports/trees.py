"""Folders of skills for the tests, and what a reading or an import says of them."""

from __future__ import annotations

import io
import tarfile
import zipfile

from registry.imports import engine, sources
from registry.imports.found import Found
from registry.imports.trees import Tree, read_tree


def skill(name="", text="Does something.", more=""):
    named = f"name: {name}\n" if name else ""
    return f"---\n{named}description: {text}\n{more}---\n# Skill\n\n{text}\n"


def grow(top, files):
    """Writes the files; a value that begins with ``->`` is a link."""
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("->"):
            (top / path).symlink_to(text.removeprefix("->"))
        else:
            (top / path).write_text(text)
    return top


def seen(top, **more):
    """The paths of candidates, and the code for each path that was passed by."""
    found = list(read_tree(Tree(top, "disk", **more)))
    candidates = [each.path for each in found if isinstance(each, Found)]
    return candidates, {each.path: each.reason.code for each in found if not isinstance(each, Found)}


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o120777 if text.startswith("->") else 0o100644) << 16
            archive.writestr(entry, text.removeprefix("->"))
    return buffer.getvalue()


def tarred(files):
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


def kept(actor, team, top, **options):
    source = sources.described(actor, team=team, kind="folder", location=str(top), options=options)
    return sources.keep(source, actor)


def rows(report):
    """What became of each path."""
    return {row.path: row.outcome for row in report.rows.order_by("pk")}


def codes(report):
    return {row.path: [each["code"] for each in row.problems] for row in report.rows.all()}


def imported(actor, team, top, **options):
    return engine.run_here(kept(actor, team, top, **options), actor)
