"""The way out of a run's own network: a listening socket inside, its descriptor handed to the worker."""

from __future__ import annotations

import os
import signal
import socket
import sys

NUMBER = 9  # of the descriptor over which it is handed out, where bubblewrap starts this
_PORT = 3128


def open_with(descriptor: int) -> None:
    """Listens, hands the listener over, and keeps neither."""
    listener = socket.create_server(("127.0.0.1", _PORT), backlog=128)
    with listener, socket.socket(fileno=descriptor) as gate:
        socket.send_fds(gate, [b"l"], [listener.fileno()])


def main() -> None:
    """Inside bubblewrap, before anything of the run: opens the gate, then becomes what it is told."""
    open_with(NUMBER)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
