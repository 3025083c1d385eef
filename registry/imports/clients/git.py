"""A git client over smart HTTP that sends its requests through ``stream``, and limits the size of packs."""

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

from registry.core.leases import LeaseLost
from registry.core.limits import import_limits
from registry.http_client.fetch import stream
from registry.http_client.response import FetchStream, OnRead
from registry.imports.readers.errors import GIT_REPOSITORY, SOURCE_ANSWER, SOURCE_TOO_LARGE
from registry.packages.problems import Refusal
from registry.packages.problems import gettext_noop as _

_OBJECTS_PER_ENTRY = 10  # git objects allowed per import entry, such as trees, commits and tags
_ADVERTISEMENT_TYPE = "application/x-git-upload-pack-advertisement"
log = logging.getLogger(__name__)


@contextmanager
def refuse_invalid_data(host: str) -> Iterator[None]:
    """Context manager that raises SOURCE_ANSWER for every exception except Refusal and LeaseLost, because
    dulwich raises many types for invalid data.
    """
    try:
        yield
    except (Refusal, LeaseLost):
        raise
    except Exception:
        log.info("%s sent invalid git data", host, exc_info=True)
        reason = _("it is not valid git data")
        raise SOURCE_ANSWER.refusal(host=host, reason=reason).at(host) from None


class Repository:
    """A remote git repository. Requests raise GIT_REPOSITORY if it does not exist or is not accessible,
    SOURCE_ANSWER for invalid data, and OUTBOUND_… refusals.
    """

    def __init__(self, url: str, headers: dict[str, str], *, on_read: OnRead | None = None) -> None:
        self.host = urlsplit(url).netloc
        self._client = _Client(url, headers, on_read)

    def refs(self) -> dict[str, str]:
        """Object ids by ref: ``HEAD``, branches and tags. For an annotated tag, the ref has the id of the tag
        object, and ``<ref>^{}`` the id of the commit.
        """
        with refuse_invalid_data(self.host):
            found = self._client.get_refs(
                "", ref_prefix=[Ref(b"HEAD"), Ref(b"refs/heads/"), Ref(b"refs/tags/")]
            )
            return {name.decode(): commit.decode() for name, commit in found.refs.items() if commit}

    def fetch(self, commits: Sequence[str], folder: Path) -> Path:
        """Creates ``folder`` and fetches the commits into it, without their history. Returns the path of the
        pack without suffix; its index is in the same folder. Also raises SOURCE_TOO_LARGE if the content
        exceeds the import limits.
        """
        folder.mkdir()
        path, wants = folder / "a.pack", [ObjectID(commit.encode()) for commit in commits]
        with refuse_invalid_data(self.host):
            with path.open("wb") as file:
                self._client.fetch_pack(
                    "",
                    lambda refs, depth=None: wants,
                    ObjectStoreGraphWalker([], lambda commit: []),
                    file.write,
                    depth=1,
                    ref_prefix=[Ref(b"HEAD")],
                )
            # In memory: a memory-mapped file would stay open while an exception refers to it.
            with PackData.from_file(BytesIO(path.read_bytes()), SHA1) as data:
                _check_size(data)
                data.create_index(str(folder / "a.idx"))
        return folder / "a"


def _check_size(data: PackData) -> None:
    """Raises SOURCE_TOO_LARGE if the unpacked content, with deltas applied, exceeds the import limits."""
    limit, objects = import_limits().unpacked, settings.SKILLQUAY_MAX_IMPORT_ENTRIES * _OBJECTS_PER_ENTRY
    if len(data) > objects:
        raise SOURCE_TOO_LARGE.refusal(limit=objects, unit=_("objects"))
    total = 0
    for each in data.iter_unpacked():
        total += (each.decomp_len or 0) + _delta_size(each)
        if total > limit:
            raise SOURCE_TOO_LARGE.refusal(limit=limit, unit=_("bytes"))


def _delta_size(each: UnpackedObject) -> int:
    """The size of the object that a delta produces, from the second number of its header; 0 for other
    objects.
    """
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
    def __init__(self, url: str, headers: dict[str, str], on_read: OnRead | None) -> None:
        super().__init__(url, thin_packs=False, quiet=True)
        self._on_read = on_read
        self._headers, self._seconds = headers, settings.SKILLQUAY_OUTBOUND_SECONDS

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        body = data if data is None or isinstance(data, bytes) else b"".join(data)
        context = stream(
            url,
            method="GET" if body is None else "POST",
            headers={**(headers or {}), **self._headers},
            body=body,
            limit=import_limits().archive,
            timeout=self._seconds,
            on_read=self._on_read,
        )
        response = _Response(url, context)
        response.require(advertising=body is None)
        return response, response.read


class _Response:
    """An HTTP response with the attributes that dulwich reads."""

    def __init__(self, url: str, context: AbstractContextManager[FetchStream]) -> None:
        self._context, self._answer = context, context.__enter__()
        self.status = self._answer.status
        self.content_type = self._answer.headers.get("content-type", "")
        self.redirect_location = self._answer.url if self._answer.url != url else ""

    def require(self, *, advertising: bool) -> None:
        missing = self.status in (401, 403, 404, 410)
        if missing or (self.status == 200 and advertising and self.content_type != _ADVERTISEMENT_TYPE):
            self.close()
            raise GIT_REPOSITORY.refusal().at("location")
        try:
            self._answer.require(200)
        except BaseException:
            self.close()
            raise

    def read(self, size: int = -1) -> bytes:
        """Reads exactly ``size`` bytes, fewer only at the end; everything if ``size`` is negative."""
        if size < 0:
            return self._answer.read_all()
        pieces = []
        while size and (piece := self._answer.read(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._context.__exit__(None, None, None)
