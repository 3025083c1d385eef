"""Adds requests to the counts that all processes share, in Redis."""

from functools import cache

from django.conf import settings
from redis import Redis, RedisError

_TIMEOUT_S = 1.0
_PREFIX = "skillquay:rates:"


def add(key: str, number: int, ends_at: int) -> int:
    """Adds ``number`` to the count and returns the sum. The count expires at ``ends_at``, in Unix seconds.
    Raises OSError if Redis fails.
    """
    # Keep the client referenced until the end. The first calls of several threads create one client each, and
    # a garbage-collected client closes its connections.
    client = _client(settings.REDIS_URL)
    try:
        with client.pipeline() as pipeline:
            pipeline.incrby(_PREFIX + key, number)
            pipeline.expireat(_PREFIX + key, ends_at)
            return int(pipeline.execute()[0])
    except RedisError as error:
        raise OSError(str(error)) from error


@cache
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
