"""Recognizes a full disk and an unavailable database in the errors of files, SQLite and PostgreSQL."""

import errno
import logging

from django.db import InterfaceError, OperationalError

from registry.core.errors import UNAVAILABLE
from registry.packages.problems import Problem
from registry.storage.errors import DISK_FULL

RETRY_AFTER_S = 60
_log = logging.getLogger(__name__)
FULL_ERRNO = (errno.ENOSPC, errno.EDQUOT)
_FULL_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
_FULL_POSTGRES = "53100"


def storage_problem(error: BaseException | None) -> Problem | None:
    """DISK_FULL for a full disk, UNAVAILABLE for a database that does not respond, None for any other error.
    Logs the first two.
    """
    if is_disk_full(error):
        _log.error("The disk is full: %s", error)
        return DISK_FULL.problem(retry_after_s=RETRY_AFTER_S)
    if isinstance(error, OperationalError | InterfaceError):
        _log.warning("the database does not answer: %s", error)
        return UNAVAILABLE.problem()
    return None


def is_disk_full(error: BaseException | None) -> bool:
    """Whether the error, or one of its causes, comes from a full disk or an exhausted quota."""
    while error is not None:
        if (
            (isinstance(error, OSError) and error.errno in FULL_ERRNO)
            or getattr(error, "sqlite_errorname", "") in _FULL_SQLITE
            or getattr(error, "sqlstate", "") == _FULL_POSTGRES
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
