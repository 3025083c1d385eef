"""Views of a version's files: the tree, one file with highlighting, and the download of a file."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from portal.pages.skill.presenters.file_tree import file_tree
from portal.pages.skill.presenters.readme import document_html
from portal.pages.skill.views.skill import layout, version_at
from portal.presenters.content.images import is_drawable
from portal.presenters.content.source import source
from registry.api.attachments import disable_rendering
from registry.changes import drafts
from registry.identity.middleware import ActorRequest
from registry.lookup.skills import find_skill, find_version
from registry.models import File, Version
from registry.storage import blobs
from worker.core.display_budget import MAX_BYTES

_IMAGES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


@require_safe
def tree(request: ActorRequest, team: str, slug: str, number: str) -> HttpResponse:
    drafts.keep_page()
    version = version_at(request, team, slug, number)  # also finds held versions for reviewers
    files = version.files.order_by("path")
    root = reverse("files", args=[version.skill.team.slug, version.skill.slug, version.number])
    context = {
        "tree": file_tree(files, root),
        "file_count": len(files),
        "bytes": sum(file.size for file in files),
    }
    return render(
        request, "skill/files.html", layout(request, version.skill, "files", version=version) | context
    )


@require_safe
def file(request: ActorRequest, team: str, slug: str, number: str, path: str) -> HttpResponse:
    drafts.keep_page()
    version = version_at(request, team, slug, number)  # also finds held versions for reviewers
    row = _file(version, path)
    context: dict[str, Any] = {"file": row, "parts": row.path.split("/")}
    context["is_image"] = row.path.rpartition(".")[2].lower() in _IMAGES
    if row.is_text:
        data = _read(row, MAX_BYTES + 1)
        context["document"] = document_html(version, row.path, data[:MAX_BYTES])
        context["source"] = source(data, row.path)
    return render(
        request, "skill/file.html", layout(request, version.skill, "files", version=version) | context
    )


@require_safe
def raw(request: ActorRequest, team: str, slug: str, number: str, path: str) -> HttpResponse:
    """The bytes of one file, with headers that make a browser save the file instead of rendering it.

    Images have their media type, so that pages can embed them; other files and images too large to draw are
    ``application/octet-stream``. Refuses held versions.
    """
    skill = find_skill(f"{team}/{slug}", request.actor)
    row = _file(find_version(skill, number, request.actor), path)
    kind = _IMAGES.get(row.path.rpartition(".")[2].lower(), "application/octet-stream")
    data = _read(row)
    if kind in _IMAGES.values() and not is_drawable(io.BytesIO(data)):
        kind = "application/octet-stream"
    response = disable_rendering(HttpResponse(data, content_type=kind), row.path)
    response["Cache-Control"] = "private, no-cache"
    return response


def _read(file: File, max_bytes: int = -1) -> bytes:
    """The first ``max_bytes`` of the file, all by default. The archive is trusted: publishing repacked it."""
    with (
        blobs.open_blob(file.version.digest) as blob,
        zipfile.ZipFile(blob) as archive,
        archive.open(file.path) as content,
    ):
        return content.read(max_bytes)


def _file(version: Version, path: str) -> File:
    return get_object_or_404(version.files.select_related("version"), path=path)
