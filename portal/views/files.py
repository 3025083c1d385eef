"""A version's files: the tree, one file highlighted, and its bytes as a download."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.showing import highlighting
from portal.showing.package_files import read_file
from portal.showing.pictures import is_drawable
from portal.views.skill import layout
from registry.api.attachments import harmless
from registry.catalog import find_skill, find_version
from registry.middleware import ActorRequest
from registry.models import File, Version

MOST_SHOWN = 512 * 1024  # bytes of a text; larger ones are downloaded
_IMAGES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


@dataclass(frozen=True)
class Row:
    """One file as the tree shows it."""

    name: str
    path: str
    size: int  # bytes
    executable: bool


@dataclass(frozen=True)
class Folder:
    name: str
    folders: dict[str, Folder] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    @property
    def subfolders(self) -> list[Folder]:
        return list(self.folders.values())


@require_safe
def tree(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    version = _version(request, team, slug, number, even_held=True)  # to be read by those who judge it
    files = version.files.order_by("path")
    context = {"root": _tree(files), "file_count": len(files), "bytes": sum(file.size for file in files)}
    return render(
        request, "skills/files.html", layout(request, version.skill, "files", version=version) | context
    )


@require_safe
def file(request: ActorRequest, team: str, slug: str, number: str, path: str) -> HttpResponse:
    version = _version(request, team, slug, number, even_held=True)  # to be read by those who judge it
    row = _file(version, path)
    context: dict[str, Any] = {"file": row, "parts": row.path.split("/"), "most_shown": MOST_SHOWN}
    context["is_image"] = row.path.rpartition(".")[2].lower() in _IMAGES
    if row.is_text and row.size <= MOST_SHOWN:
        text = read_file(row).decode("utf-8-sig", "replace")
        context["lines"] = highlighting.lines(text, highlighting.language_of(row.path))
    return render(
        request, "skills/file.html", layout(request, version.skill, "files", version=version) | context
    )


@require_safe
def raw(request: ActorRequest, team: str, slug: str, number: str, path: str) -> HttpResponse:
    """The bytes as a download that no browser opens; pictures keep their type, for pages to show."""
    row = _file(_version(request, team, slug, number), path)
    kind = _IMAGES.get(row.path.rpartition(".")[2].lower(), "application/octet-stream")
    data = read_file(row)
    if kind in _IMAGES.values() and not is_drawable(io.BytesIO(data)):
        kind = "application/octet-stream"
    answer = harmless(HttpResponse(data, content_type=kind), row.path)
    answer["Cache-Control"] = "private, no-cache"
    return answer


def _version(request: ActorRequest, team: str, slug: str, number: str, *, even_held: bool = False) -> Version:
    skill = find_skill(f"{team}/{slug}", request.actor)
    return find_version(skill, number, request.actor, even_held=even_held)


def _file(version: Version, path: str) -> File:
    row = version.files.select_related("version").filter(path=path).first()
    if row is None:
        raise Http404
    return row


def _tree(files: Any) -> Folder:
    root = Folder("")
    for row in files:
        folder = root
        *above, last = row.path.split("/")
        for name in above:
            folder = folder.folders.setdefault(name, Folder(name))
        folder.rows.append(Row(last, row.path, row.size, row.executable))
    return root
