"""Opens a listening socket in the sandbox's own network and passes its descriptor to the worker's proxy."""

from __future__ import annotations

import os
import signal
import socket
import sys

PROXY_FD = 9  # descriptor for passing the listener if bubblewrap starts this program
_PORT = 3128


def pass_listener(descriptor: int) -> None:
    """Listens on 127.0.0.1:3128, passes the listening socket over ``descriptor``, and closes both."""
    listener = socket.create_server(("127.0.0.1", _PORT), backlog=128)
    with listener, socket.socket(fileno=descriptor) as proxy_socket:
        socket.send_fds(proxy_socket, [b"l"], [listener.fileno()])


def main() -> None:
    """Passes the listening socket from inside bubblewrap, then becomes the command in ``sys.argv``."""
    pass_listener(PROXY_FD)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
