"""Smart HTTP of git through the one door out; what comes back is measured before it is unpacked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from dulwich.client import AbstractHttpGitClient
from dulwich.object_format import SHA1
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import ObjectID
from dulwich.pack import DELTA_TYPES, PackData, UnpackedObject
from dulwich.refs import Ref

from registry.limits import import_limits
from registry.outbound import opened
from registry.outbound.answers import Answer
from registry.packages.problems import Refused, refuse

_OBJECTS = 10  # for each file that an import may hold: trees, commits, tags and other versions of it
_ADVERTISED = "application/x-git-upload-pack-advertisement"
log = logging.getLogger(__name__)


@contextmanager
def sound(host: str) -> Iterator[None]:
    """Whatever a stranger's bytes make of a library that reads them is a refusal."""
    try:
        yield
    except Refused:
        raise
    except Exception:
        log.info("what %s sent is no sound git data", host, exc_info=True)
        reason = "what it sent is no sound git data"
        raise refuse("SOURCE_ANSWER", path=host, host=host, reason=reason) from None


class Repository:
    """One repository far away: its refs, and the commits that are wanted of it."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.host = urlsplit(url).netloc
        self._client = _Client(url, headers)

    def refs(self) -> dict[str, str]:
        """Every branch and tag, and ``HEAD``; what an annotated tag leads to under its name and ``^{}``."""
        with sound(self.host):
            found = self._client.get_refs(
                "", ref_prefix=[Ref(b"HEAD"), Ref(b"refs/heads/"), Ref(b"refs/tags/")]
            )
            return {name.decode(): commit.decode() for name, commit in found.refs.items() if commit}

    def fetch(self, commits: Sequence[str], folder: Path) -> Path:
        """The commits without their history: the pack's path without its suffix, whose growth is bounded."""
        folder.mkdir()
        path, wants = folder / "a.pack", [ObjectID(commit.encode()) for commit in commits]
        with sound(self.host):
            with path.open("wb") as file:
                self._client.fetch_pack(
                    "",
                    lambda refs, depth=None: wants,
                    ObjectStoreGraphWalker([], lambda commit: []),
                    file.write,
                    depth=1,
                    ref_prefix=[Ref(b"HEAD")],
                )
            # In memory: over a file it is mapped, and a mapping is not closed while an error looks into it.
            with PackData.from_file(BytesIO(path.read_bytes()), SHA1) as data:
                _measure(data)
                data.create_index(str(folder / "a.idx"))
        return folder / "a"


def _measure(data: PackData) -> None:
    """Refuses a pack that grows beyond what an import may hold, deltas applied, before it may grow."""
    limit, objects = import_limits().unpacked, settings.SKILLQUAY_IMPORT_ENTRIES * _OBJECTS
    if len(data) > objects:
        raise refuse("SOURCE_TOO_LARGE", limit=objects)
    grown = 0
    for each in data.iter_unpacked():
        grown += (each.decomp_len or 0) + _result(each)
        if grown > limit:
            raise refuse("SOURCE_TOO_LARGE", limit=limit)


def _result(each: UnpackedObject) -> int:
    """The bytes that a delta says it makes: the second number of its header."""
    if each.pack_type_num not in DELTA_TYPES:
        return 0
    numbers, shift, size = [], 0, 0
    for byte in b"".join(each.decomp_chunks)[:20]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(size)
            shift, size = 0, 0
    return numbers[1]


class _Client(AbstractHttpGitClient):
    def __init__(self, url: str, headers: dict[str, str]) -> None:
        super().__init__(url, thin_packs=False, quiet=True)
        self._headers, self._seconds = headers, settings.SKILLQUAY_OUTBOUND_SECONDS

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        body = data if data is None or isinstance(data, bytes) else b"".join(data)
        door = opened(
            url,
            method="GET" if body is None else "POST",
            headers={**(headers or {}), **self._headers},
            body=body,
            limit=import_limits().archive,
            timeout=self._seconds,
        )
        response = _Response(url, door)
        response.require(advertising=body is None)
        return response, response.read


class _Response:
    """An answer as dulwich wants it."""

    def __init__(self, url: str, door: AbstractContextManager[Answer]) -> None:
        self._door, self._answer = door, door.__enter__()
        self.status = self._answer.status
        self.content_type = self._answer.headers.get("content-type", "")
        self.redirect_location = self._answer.url if self._answer.url != url else ""

    def require(self, *, advertising: bool) -> None:
        missing = self.status in (401, 403, 404, 410)
        if missing or (self.status == 200 and advertising and self.content_type != _ADVERTISED):
            self.close()
            raise refuse("GIT_REPOSITORY", path="location")
        try:
            self._answer.require(200)
        except BaseException:
            self.close()
            raise

    def read(self, size: int = -1) -> bytes:
        """Exactly ``size`` bytes, fewer at the end alone."""
        if size < 0:
            return self._answer.rest()
        pieces = []
        while size and (piece := self._answer.read(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._door.__exit__(None, None, None)
