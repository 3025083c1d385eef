"""The download of a version for clients of other protocols."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from registry.api import etag
from registry.api.attachments import ZIP_VARY, StoredFile, make_zip_attachment, stored_response
from registry.identity.actors import Actor
from registry.identity.permissions import Action, require
from registry.models import UseKind, Version
from registry.usage.recording import note_use, use_of


def archive_response(
    request: Request, version: Version, actor: Actor, *, name: str = "", counts: bool = True
) -> HttpResponseBase:
    """The archive of the version as the file ``name``, or 304. With ``counts``, a GET that is answered with
    the archive counts as an install. Requires permission to install.
    """
    require(actor, Action.INSTALL, skill=version.skill)
    tag = f'"{version.digest}"'
    if unchanged := etag.not_modified(request, tag, vary=ZIP_VARY):
        return unchanged
    if counts and request.method == "GET":
        note_use(use_of(version, UseKind.INSTALL), actor.caller)
    stored = stored_response(StoredFile(version.digest, version.archive_size))
    name = name or f"{version.skill.slug}-{version.number}.zip"
    return etag.set_private(make_zip_attachment(stored, request, name, tag))
