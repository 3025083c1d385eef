"""Builds the npm tarball of a version. The tarball of an archive has the same bytes on every machine."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

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


def package_name(team: str, slug: str) -> str:
    return f"@{team}/{slug}"


def tarball(version: Version, name: str) -> bytes:
    """The tarball of the package ``name``. Raises the errors of ``blobs.read``."""
    return _build(read_repacked(blobs.read(version.digest)), _identity(version, name))[0]


def tarball_facts(version: Version, name: str) -> TarballFacts:
    """The digests of ``tarball``, computed once in each process. Raises the errors of ``blobs.read``."""
    return _facts(version.digest, json.dumps(_identity(version, name)))


@lru_cache(maxsize=_MAX_KNOWN)
def _facts(digest: str, identity: str) -> TarballFacts:
    files = read_repacked(blobs.read(digest))
    data, package_json = _build(files, json.loads(identity))
    return TarballFacts(
        "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
        hashlib.sha1(data, usedforsecurity=False).hexdigest(),
        sum(len(file.data) for file in files),
        len(files),
        package_json,
    )


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
