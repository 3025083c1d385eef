"""What comes back: read in pieces, counted as it is decoded, and every failure of the line a refusal."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from registry.outbound.addresses import Target
from registry.packages.problems import Refused, Said, gettext_noop, refuse

if TYPE_CHECKING:
    from registry.outbound.dialling import Clock

_PIECE = 64 * 1024


class Answer:
    """An answer whose body is still on the line; ``read`` gives at most ``limit`` bytes in all, decoded."""

    def __init__(
        self, connection: HTTPConnection, response: HTTPResponse, place: Target, *, clock: Clock, limit: int
    ) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
        self.url = place.url
        self._connection, self._response, self._place = connection, response, place
        self._clock, self._limit, self._read = clock, limit, 0

    def read(self, size: int = _PIECE) -> bytes:
        """What is there, at most ``size`` bytes, waiting for at least one; empty at the end."""
        try:
            piece = self._response.read1(min(size, _PIECE))
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            raise broken(self._place, self._clock, error) from None
        if not piece and self._clock.is_over:  # a line that was cut looks like one that ended
            raise self._clock.refusal()
        self._read += len(piece)
        if self._read > self._limit:
            host = self._place.host
            raise refuse("OUTBOUND_TOO_LARGE", path=host, host=host, limit=self._limit)
        return piece

    def pieces(self) -> Iterator[bytes]:
        while piece := self.read():
            yield piece

    def rest(self) -> bytes:
        return b"".join(self.pieces())

    def require(self, *statuses: int) -> None:
        """Refuses an answer of another status; the body of one is a stranger's and is not shown."""
        if self.status not in statuses:
            host = self._place.host
            raise refuse("OUTBOUND_STATUS", path=host, host=host, status=self.status)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def broken(place: Target, clock: Clock, error: Exception) -> Refused:
    """What went wrong on the line, in words of ours: an error's own may tell of inner addresses."""
    if clock.is_over or isinstance(error, TimeoutError):
        return clock.refusal()
    return refuse("OUTBOUND_FAILED", path=place.host, host=place.host, reason=Said(_reason(error)))


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return gettext_noop("its certificate is not valid for that name")
    if isinstance(error, ssl.SSLError):
        return gettext_noop("it does not speak TLS as it should")
    if isinstance(error, HTTPError | HTTPException | ValueError):
        return gettext_noop("its answer is damaged or was cut short")
    return gettext_noop("it takes no connection")
