"""The Redis broker: kombu's transport, with acknowledgements kept in memory.

Kombu acknowledges in Redis and ignores failures. After a restart of Redis, a worker whose slots were all busy
would count their messages as unacknowledged forever, and never fetch again. A message is only a wake-up, and
the reaper repeats it, so nothing is restored after a crash, a lost connection or a stop. Unlike ``no_ack``,
this respects the prefetch limit, so a busy worker leaves messages in Redis for idle workers.
"""

from kombu.transport import redis


class RedisChannel(redis.Channel):
    ack_emulation = False
    do_restore = False


class RedisTransport(redis.Transport):
    Channel = RedisChannel
