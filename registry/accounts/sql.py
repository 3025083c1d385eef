"""SQL that counts failed sign-ins."""

from registry.core.sql import fetch_all

# Failures count together until the first one is a window old; the last permitted one starts a new window.
_ADD = """
INSERT INTO registry_failedsignins AS f (uid, username, address, count, ends_at) VALUES (%s, %s, %s, 1, %s)
ON CONFLICT (username, address) DO UPDATE SET
    count = CASE WHEN f.ends_at <= %s THEN 1 ELSE f.count + 1 END,
    ends_at = CASE WHEN f.ends_at <= %s OR f.count + 1 = %s THEN excluded.ends_at ELSE f.ends_at END
RETURNING count, ends_at
"""


def add_attempt(
    uid: str, username: str, address: str, *, now: int, seconds: int, most: int
) -> tuple[int, int]:
    """Counts one attempt in one statement, so that concurrent attempts are all counted. Returns the number of
    attempts and the Unix second at which they stop counting.
    """
    values = [uid, username, address, now + seconds, now, now, most]
    count, ends_at = fetch_all(_ADD, values)[0]
    return int(count), int(ends_at)
