"""Names of this host and of this worker process, as attempts record them."""

import os
import socket


def worker_name() -> str:
    return f"{host_name()}:{os.getpid()}"


def host_name() -> str:
    return socket.gethostname()[:100]
