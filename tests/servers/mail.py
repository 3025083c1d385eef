"""An SMTP server on loopback that keeps what it receives."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """``messages`` are the received mails; with ``refuses``, every recipient is refused."""

    daemon_threads = True

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.refuses = False
        super().__init__(("127.0.0.1", 0), _Session)


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self.reply("220 ready")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                self.reply("354 go on")
                body = b"".join(iter(self.rfile.readline, b".\r\n"))
                self.server.messages.append(message_from_bytes(body, policy=policy.default))
                self.reply("250 kept")
            elif verb == b"QUIT":
                self.reply("221 bye")
                return
            else:
                self.reply("550 no" if verb == b"RCPT" and self.server.refuses else "250 ok")

    def reply(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def run_mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
