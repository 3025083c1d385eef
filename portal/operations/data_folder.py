"""The lock of the data folder. The supervisor and the commands that replace the site's data hold it."""

import fcntl
import os
from typing import IO

from django.conf import settings
from django.core.management.base import CommandError


def lock_data_folder() -> IO[str]:
    """Locks the data folder until the returned file is closed.

    Raises CommandError if another process, such as the running site, holds the lock.
    """
    file = open(settings.SKILLQUAY_VAR / "up.lock", "w", opener=_private)  # noqa: SIM115 - held until exit
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise CommandError(
            "Can't start: Skillquay already runs with this data folder. Stop it, or set SKILLQUAY_VAR and "
            "SKILLQUAY_PORT to other values."
        ) from None
    return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
