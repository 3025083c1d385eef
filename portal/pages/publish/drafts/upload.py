"""The package on the publish page: a new upload, or the draft that an earlier check stored, with edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from portal.errors import UPLOAD_GONE
from portal.pages.publish.forms.folder_upload import folder_files
from registry.identity.actors import Actor
from registry.packages.archive.repack import repack
from registry.packages.authoring.edit import PackageEdits, edit_files, text_of
from registry.packages.limits import Limits
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import Package, PackageFile
from registry.packages.read_package import read_files, read_package_files, read_upload
from registry.storage import blobs
from worker.files.inputs import store_input
from worker.models import InputFile

_MAX_TEXT = 30_000  # characters of a SKILL.md that the page shows for editing


@dataclass(frozen=True)
class Upload:
    """A package that could be read; it can have problems. ``stored`` has exactly this package, if set."""

    package: Package
    data: bytes  # an archive, or the text of a SKILL.md if ``name`` ends in .md
    name: str
    stored: InputFile | None = None

    @property
    def text(self) -> str:
        """The text of SKILL.md; "" if it is too long to edit on the page."""
        file = self.package.file(SKILL_MD)
        text = text_of(file.data) if file else ""
        return text if len(text) <= _MAX_TEXT or len(self.package.files) == 1 else ""

    def keep(self, actor: Actor) -> InputFile:
        """Stores the package for the actor, so that it need not be uploaded again."""
        return self.stored or store_input([self.data], self.name, actor)


def submitted_upload(given: Mapping[str, Any], actor: Actor) -> Upload:
    """The package of the cleaned form data. A new upload takes precedence over a stored one, whose SKILL.md
    the submitted text replaces.

    Raises UPLOAD_GONE if there is neither or the stored one has expired, and other refusals for a package
    that can't be read.
    """
    if archive := given["archive"]:
        return _read(archive.read(), archive.name or "")
    if given["folder"]:
        files = read_files(folder_files(given["folder"]), limits=upload_limits()).files
        return _read(repack(files), "folder.zip")
    if given["upload_id"]:
        stored = _stored(given["upload_id"], actor)
        upload = _read(blobs.read(stored.digest), stored.name, stored)
        if not (text := given["text"]).strip():
            return upload
        return with_files(upload, edit_files(upload.package.files, PackageEdits(((SKILL_MD, text),))))
    if given["text"].strip():
        return _read(given["text"].replace("\r\n", "\n").encode("utf-8", "surrogatepass"), SKILL_MD)
    raise UPLOAD_GONE.refusal()


def with_files(upload: Upload, files: Iterable[PackageFile]) -> Upload:
    """The upload with these files; unchanged if it has them already. Raises Refusal if they can't be read."""
    files = tuple(files)
    if files == upload.package.files:
        return upload
    # without `name`, the name of the folder or archive is the name of the skill
    slug = upload.package.manifest.slug
    name = f"{slug}.zip" if slug else upload.name
    return Upload(read_package_files(files, filename=name, limits=upload_limits()), repack(files), name)


def upload_limits() -> Limits:
    return Limits(
        archive=settings.SKILLQUAY_MAX_ARCHIVE_BYTES,
        unpacked=settings.SKILLQUAY_MAX_UNPACKED_BYTES,
        file=settings.SKILLQUAY_MAX_FILE_BYTES,
        entries=settings.SKILLQUAY_MAX_ARCHIVE_ENTRIES,
    )


def _read(data: bytes, name: str, stored: InputFile | None = None) -> Upload:
    return Upload(read_upload(data, filename=name, limits=upload_limits()), data, name, stored)


def _stored(uid: str, actor: Actor) -> InputFile:
    uploads = InputFile.objects.filter(owner=actor.user, expires_at__gt=timezone.now())
    stored = uploads.filter(uid=uid).first()
    if stored is None:
        raise UPLOAD_GONE.refusal()
    return stored
