"""The module in which Django looks for a backend."""

import select

from django.db.backends.postgresql import base
from psycopg import _queries

MAX_STATEMENT_BYTES = 65_536
MAX_PLACEHOLDERS = 200

# psycopg parses statements of more than 4,096 bytes or 50 placeholders again at each execution, which took
# 0.6 ms of the 4 ms of a skill's page. These limits have no public setting; a test fails if another release
# of psycopg ignores them.
_queries.MAX_CACHED_STATEMENT_LENGTH = MAX_STATEMENT_BYTES
_queries.MAX_CACHED_STATEMENT_PARAMS = MAX_PLACEHOLDERS


class PostgreSQLConnection(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the connection works. Asks the database only after an error or if something was received,
        such as the end of the connection. Django asks before the first statement of each request.
        """
        if self.connection is None or self.errors_occurred or _has_received(self.connection.pgconn.socket):
            return bool(super().is_usable())
        return not self.connection.closed


def _has_received(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


DatabaseWrapper = PostgreSQLConnection  # the name that Django looks for
