"""Builds the npm tarball of a version. The tarball of an archive has the same bytes on every machine."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
import tarfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from registry.api.attachments import StoredFile
from registry.facades import built_files
from registry.models import Version
from registry.packages.archive.repack import read_repacked
from registry.packages.package import PackageFile
from registry.storage import blobs

_PACKAGE_JSON = "package.json"
_MODIFIED = 499_162_500  # 26 October 1985, which npm gives all files of its own tarballs
_MAX_BLOCK = 0xFFFF  # bytes of a block of an uncompressed deflate stream
_MAX_KNOWN = 20_000  # tarballs whose digests a process remembers, about 300 bytes each
# Fields of the author's package.json that npm needs to load the scripts. ``scripts`` is left out, because npm
# would execute it at installation.
_KEPT_FIELDS = ("type", "exports", "imports", "main", "engines", "dependencies", "optionalDependencies")
_FORMAT = 1  # of the tarballs; another number builds all of them again


@dataclass(frozen=True)
class TarballFacts:
    """The values that npm checks. ``integrity`` is the SHA-512 in base64, ``shasum`` the SHA-1 in
    hexadecimal. ``size`` is the total size of the files in bytes.
    """

    integrity: str
    shasum: str
    size: int
    file_count: int
    package_json: Mapping[str, Any]


_known: dict[str, TarballFacts] = {}


def package_name(team: str, slug: str) -> str:
    return f"@{team}/{slug}"


def tarball(version: Version, name: str) -> bytes:
    """The tarball of the package ``name``. Raises the errors of ``blobs.read``."""
    return _build(read_repacked(blobs.read(version.digest)), _identity(version, name))[0]


def kept_tarball(version: Version, name: str) -> StoredFile | None:
    """The kept file with the bytes of ``tarball``; None if it could not be kept."""
    key = _key(version, name)
    row = built_files.find([key]).get(key)
    return StoredFile(row.digest, row.size) if row else None


def tarball_facts(version: Version, name: str) -> TarballFacts:
    """The digests of ``tarball``. Raises the errors of ``blobs.read``."""
    return all_tarball_facts([version], name)[version.pk]


def all_tarball_facts(versions: Sequence[Version], name: str) -> dict[int, TarballFacts]:
    """The digests of the versions' tarballs, by version id. Each tarball is built and kept once; later
    processes read its digests. Raises the errors of ``blobs.read``.
    """
    keys = {version.pk: _key(version, name) for version in versions}
    missing = [key for key in keys.values() if key not in _known]
    stored = built_files.find(missing) if missing else {}
    if len(_known) > _MAX_KNOWN:
        _known.clear()
    found = {}
    for version in versions:
        key = keys[version.pk]
        facts = _known.get(key)
        if facts is None:
            row = stored.get(key)
            facts = TarballFacts(**row.facts) if row else _build_and_keep(version, name, key)
            _known[key] = facts
        found[version.pk] = facts
    return found


def _build_and_keep(version: Version, name: str, key: str) -> TarballFacts:
    files = read_repacked(blobs.read(version.digest))
    data, package_json = _build(files, _identity(version, name))
    facts = TarballFacts(
        "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
        hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        sum(len(file.data) for file in files),
        len(files),
        package_json,
    )
    built_files.keep("npm", key, data, skill_id=version.skill_id, facts=asdict(facts))
    return facts


def _key(version: Version, name: str) -> str:
    return built_files.key_of("npm", _FORMAT, version.digest, _identity(version, name))


def _identity(version: Version, name: str) -> dict[str, Any]:
    manifest = version.manifest
    fields = {
        "name": name,
        "version": version.number,
        "description": " ".join(str(manifest.get("description") or "").split()),
        "license": manifest.get("license") or "",
        "keywords": ["agent-skill", *manifest.get("tags", ())],
    }
    return {key: value for key, value in fields.items() if value}


def _build(files: Iterable[PackageFile], identity: Mapping[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """The tarball, and the package.json in it, which replaces the one of the author."""
    by_path = {file.path: file for file in files}
    written = by_path.pop(_PACKAGE_JSON, None)
    package_json = {**identity, **_kept_fields(written.data if written else b"")}
    data = json.dumps(package_json, indent=2, ensure_ascii=False).encode() + b"\n"
    rows = [PackageFile(_PACKAGE_JSON, data, executable=False), *by_path.values()]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in rows:
            entry = tarfile.TarInfo(f"package/{file.path}")
            entry.size, entry.mtime = len(file.data), _MODIFIED
            entry.mode = 0o755 if file.executable else 0o644
            archive.addfile(entry, io.BytesIO(file.data))
    return _gzip(buffer.getvalue()), package_json


def _kept_fields(data: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(data)
    except ValueError:
        return {}
    return {key: fields[key] for key in _KEPT_FIELDS if key in fields} if isinstance(fields, dict) else {}


def _gzip(data: bytes) -> bytes:
    """The data as a gzip stream without compression, because compressed bytes depend on the zlib build."""
    blocks = [data[at : at + _MAX_BLOCK] for at in range(0, len(data), _MAX_BLOCK)]
    stream = bytearray(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
    for number, block in enumerate(blocks, 1):
        size = len(block)
        stream += struct.pack("<BHH", number == len(blocks), size, size ^ 0xFFFF) + block
    return bytes(stream + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF))
