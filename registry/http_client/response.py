"""A response that is read in chunks with a size limit; every network error becomes a refusal."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from registry.http_client.addresses import Target
from registry.http_client.errors import OUTBOUND_FAILED, OUTBOUND_STATUS, OUTBOUND_TOO_LARGE
from registry.packages.problems import LazyMessage, Refusal, gettext_noop

if TYPE_CHECKING:
    from registry.http_client.connection import Deadline

OnRead = Callable[[int], object]
_CHUNK = 64 * 1024


class FetchStream:
    """A response whose body the caller reads in chunks, at most ``limit`` decoded bytes in total."""

    def __init__(
        self,
        connection: HTTPConnection,
        response: HTTPResponse,
        target: Target,
        *,
        deadline: Deadline,
        limit: int,
    ) -> None:
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
        self.url = target.url
        self._connection, self._response, self._target = connection, response, target
        self._deadline, self._limit, self._read = deadline, limit, 0
        self.on_read: OnRead | None = None  # called with the size of each chunk

    def read(self, size: int = _CHUNK) -> bytes:
        """Waits for data and returns at most ``size`` bytes, and never more than 64 KiB; ``b""`` at the end
        of the body.

        Raises OUTBOUND_TOO_LARGE above the response's limit, and OUTBOUND_TIMEOUT or OUTBOUND_FAILED like
        ``network_refusal``.
        """
        try:
            chunk = self._response.read1(min(size, _CHUNK))
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            raise network_refusal(self._target, self._deadline, error) from None
        if not chunk and self._deadline.is_expired:  # a socket shut down at the deadline looks like the end
            raise self._deadline.refusal()
        self._read += len(chunk)
        if self._read > self._limit:
            host = self._target.host
            raise OUTBOUND_TOO_LARGE.refusal(host=host, limit=self._limit).at(host)
        if self.on_read:
            self.on_read(len(chunk))
        return chunk

    def iter_chunks(self) -> Iterator[bytes]:
        while chunk := self.read():
            yield chunk

    def read_all(self) -> bytes:
        return b"".join(self.iter_chunks())

    def require(self, *statuses: int) -> None:
        """Raises OUTBOUND_STATUS unless the response has one of these statuses. The error omits the body,
        which is untrusted.
        """
        if self.status not in statuses:
            host = self._target.host
            raise OUTBOUND_STATUS.refusal(host=host, status=self.status).at(host)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


def network_refusal(target: Target, deadline: Deadline, error: Exception) -> Refusal:
    """OUTBOUND_TIMEOUT after the deadline or for a TimeoutError, otherwise OUTBOUND_FAILED with a fixed
    reason, because the text of ``error`` may reveal internal addresses.
    """
    if deadline.is_expired or isinstance(error, TimeoutError):
        return deadline.refusal()
    return OUTBOUND_FAILED.refusal(host=target.host, reason=LazyMessage(_reason(error))).at(target.host)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return gettext_noop("its TLS certificate is invalid or not trusted")
    if isinstance(error, ssl.SSLError):
        return gettext_noop("the TLS connection failed")
    if isinstance(error, HTTPError | HTTPException | ValueError):
        return gettext_noop("its response is damaged or incomplete")
    return gettext_noop("the connection failed")
