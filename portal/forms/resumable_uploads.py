"""Files of a form that ``skillquay.js`` has sent in chunks: the form names them by their upload's id."""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from portal.errors import UPLOAD_GONE
from registry.core.errors import NOT_FOUND
from registry.identity.middleware import ActorRequest
from registry.models import ResumableUpload
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.uploads.uploads import complete_upload, discard_upload, erase_upload

PREFIX = "upload:"  # before the name of the field


def attach_uploads(request: ActorRequest) -> None:
    """Adds the files whose uploads the form names to ``request.FILES``, as if the form contained them.

    Raises UPLOAD_GONE if an upload is missing, and the refusals of ``complete_upload``.
    """
    found: list[ResumableUpload] = []
    for name in request.POST:
        if name.startswith(PREFIX):
            for uid in request.POST.getlist(name)[: settings.DATA_UPLOAD_MAX_NUMBER_FILES]:
                upload = _find(uid, request)
                file = UploadedFile(blobs.open_blob(upload.digest), upload.name, size=upload.size)
                request.FILES.appendlist(name.removeprefix(PREFIX), file)
                found.append(upload)
    request.attached_uploads = found  # type: ignore[attr-defined]


def _find(uid: str, request: ActorRequest) -> ResumableUpload:
    try:
        return complete_upload(uid, request.actor)
    except Refusal as refused:
        raise UPLOAD_GONE.refusal() if refused.code == NOT_FOUND.name else refused from None


def discard_attached(request: HttpRequest) -> None:
    """Deletes the uploads that ``attach_uploads`` has used."""
    for upload in _attached(request):
        discard_upload(upload)


def erase_attached(request: HttpRequest) -> None:
    """Deletes the uploads that ``attach_uploads`` has used, with their content."""
    for upload in _attached(request):
        erase_upload(upload)


def _attached(request: HttpRequest) -> list[ResumableUpload]:
    return getattr(request, "attached_uploads", [])
