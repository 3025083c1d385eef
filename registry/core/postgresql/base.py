"""The module in which Django looks for a backend."""

from django.db.backends.postgresql.base import DatabaseWrapper as DatabaseWrapper
from psycopg import _queries

MAX_STATEMENT_BYTES = 65_536
MAX_PLACEHOLDERS = 200

# psycopg parses statements of more than 4,096 bytes or 50 placeholders again at each execution, which took
# 0.6 ms of the 4 ms of a skill's page. These limits have no public setting; a test fails if another release
# of psycopg ignores them.
_queries.MAX_CACHED_STATEMENT_LENGTH = MAX_STATEMENT_BYTES
_queries.MAX_CACHED_STATEMENT_PARAMS = MAX_PLACEHOLDERS
