"""Answers the two requests of a fetch over git's smart HTTP protocol, with dulwich's upload-pack."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from dulwich.protocol import (
    CAPABILITY_FILTER,
    COMMAND_DEEPEN,
    COMMAND_SHALLOW,
    Protocol,
    ReceivableProtocol,
    pkt_line,
)
from dulwich.repo import MemoryRepo
from dulwich.server import Backend, UploadPackHandler

from registry.api.errors import BODY_TOO_LARGE
from registry.facades.git.errors import GIT_REQUEST_INVALID

MAX_REQUEST_BYTES = 1 << 20  # unpacked
MAX_WANTS = 256
_UNLIMITED = 2**31 - 1  # the depth of `git fetch --unshallow`
_SHALLOW_COMMANDS = (COMMAND_DEEPEN, COMMAND_SHALLOW, None)
_SERVICE = b"# service=git-upload-pack\n"


class ServedRepo(MemoryRepo):
    """A repository in memory from which shallow clones can fetch without deepening, which dulwich refuses."""

    def find_missing_objects(self, determine_wants: Any, graph_walker: Any, *args: Any, **kwargs: Any) -> Any:
        deepen = graph_walker._handle_shallow_request
        graph_walker._handle_shallow_request = lambda wants: _read_shallow(graph_walker, wants, deepen)
        return super().find_missing_objects(determine_wants, graph_walker, *args, **kwargs)


def _read_shallow(walker: Any, wants: list[Any], deepen: Callable[[Any], None]) -> None:
    """Reads the commits at which the client's history ends, and the depth, if any. For an unlimited depth,
    adds these commits to ``wants``, so that the client gets their history.
    """
    command, value = walker.read_proto_line(_SHALLOW_COMMANDS)
    while command == COMMAND_SHALLOW:
        walker.client_shallow.add(value)
        command, value = walker.read_proto_line(_SHALLOW_COMMANDS)
    if command is None:
        walker.shallow.update(walker.client_shallow)
        return
    if value >= _UNLIMITED:
        wants += [sha for sha in walker.client_shallow if sha in walker.store]
    walker.unread_proto_line(command, value)
    deepen(wants)
    # dulwich takes the ancestors of commits that a client has for present, except if this is not empty.
    walker.unshallow = walker.unshallow | walker.client_shallow


class _Handler(UploadPackHandler):
    """An upload-pack handler without partial clones. Their later requests name objects that no reference
    contains.
    """

    def capabilities(self) -> list[bytes]:
        return [each for each in super().capabilities() if each != CAPABILITY_FILTER]

    @classmethod
    def required_capabilities(cls) -> tuple[bytes, ...]:
        return ()


class _Single(Backend):
    def __init__(self, repo: MemoryRepo) -> None:
        self._repo = repo

    def open_repository(self, path: str) -> MemoryRepo:  # type: ignore[override]
        return self._repo


def advertisement(repo: MemoryRepo) -> bytes:
    """The response that lists references and capabilities."""
    out = io.BytesIO()
    protocol = Protocol(lambda _size: b"", out.write)
    _Handler(_Single(repo), ["/"], protocol, stateless_rpc=True, advertise_refs=True).handle()
    return pkt_line(_SERVICE) + pkt_line(None) + out.getvalue()


def answer(repo: MemoryRepo, body: bytes) -> bytes:
    """The answer to the body of a POST: acknowledgements, and a pack if the client is done. Raises
    GIT_REQUEST_INVALID for a body that does not follow the protocol, names unknown objects, or has more than
    MAX_WANTS wants.
    """
    if body.count(b"want ") > MAX_WANTS:
        raise GIT_REQUEST_INVALID.refusal(reason=f"more than {MAX_WANTS} wants")
    out = io.BytesIO()
    protocol = ReceivableProtocol(io.BytesIO(body).read, out.write)
    try:
        _Handler(_Single(repo), ["/"], protocol, stateless_rpc=True).handle()
    except Exception as error:  # dulwich raises exceptions of many types for malformed bodies
        raise GIT_REQUEST_INVALID.refusal(reason=" ".join(str(error).split())[:200] or "truncated") from None
    return out.getvalue()


def unpacked_body(chunks: Iterable[bytes], *, is_gzip: bool) -> bytes:
    """The body, decompressed if ``is_gzip``. Raises BODY_TOO_LARGE above MAX_REQUEST_BYTES, and
    GIT_REQUEST_INVALID for a broken gzip stream.
    """
    inflater = zlib.decompressobj(wbits=31)
    found = bytearray()
    for chunk in chunks:
        try:
            found += inflater.decompress(chunk, MAX_REQUEST_BYTES + 1) if is_gzip else chunk
        except zlib.error as error:
            raise GIT_REQUEST_INVALID.refusal(reason=str(error)[:200]) from None
        if len(found) > MAX_REQUEST_BYTES:
            raise BODY_TOO_LARGE.refusal(limit=MAX_REQUEST_BYTES)
    if is_gzip and not inflater.eof:
        raise GIT_REQUEST_INVALID.refusal(reason="incomplete gzip stream")
    return bytes(found)
