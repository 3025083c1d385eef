"""HTTP clients, without Django, that follow a run's log, disconnect, reconnect and count lines."""

from __future__ import annotations

import asyncio
import json
import re
import time

# Minimum pause between two requests of a page; longer after slow responses, as in the page's script.
_LOOK_S = 0.4
_WHOLE_S = 20.0  # within this time a page requests only log lines if nothing else changed

_SETTLED_S = 1.0  # time after connecting in which earlier lines arrive, whose delay does not count


class Follower:
    """Reads ``/events`` as a browser's EventSource does: a reconnect continues after the last ``id``.

    With ``cookie``, also sends the requests of the run's page.
    """

    def __init__(self, port, uid, token, dice, *, stays, cookie=""):
        self.port, self.uid, self.token, self.dice = port, uid, token, dice
        self.cookie, self.looks, self.looking, self.lines = cookie, [], None, ""  # state of the open page
        self.whole_at = time.monotonic()
        self.stays = stays  # seconds of each visit except the last, which lasts until the run ends
        self.position = self.tail = ""
        self.numbers, self.delays, self.visits, self.refused = [], [], 0, 0
        self.ended = False

    async def follow(self):
        while not self.ended and self.visits < 50:
            stay = self.stays[self.visits] if self.visits < len(self.stays) else None
            self.visits += 1
            try:
                async with asyncio.timeout(stay):
                    await self._visit()
            except TimeoutError:
                await asyncio.sleep(self.dice.uniform(0.05, 1.0))

    async def _visit(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self._request())
            status = await reader.readuntil(b"\r\n\r\n")
            if not status.startswith(b"HTTP/1.1 200"):
                self.refused += 1
                return await asyncio.sleep(0.5)
            await self._read(reader, since=time.time() + _SETTLED_S)
        except (ConnectionError, asyncio.IncompleteReadError):
            return None
        finally:
            writer.close()

    def _request(self):
        last = f"Last-Event-ID: {self.position}\r\n" if self.position else ""
        head = f"GET /api/v1/runs/{self.uid}/events HTTP/1.1\r\nHost: bench\r\n{last}"
        return f"{head}Authorization: Bearer {self.token}\r\n\r\n".encode()

    async def _read(self, reader, *, since):
        text = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            text += (await reader.readexactly(size + 2))[:-2]
            *events, text = text.split(b"\n\n")
            for event in events:
                self._receive(event.decode(), since)
                if b"event: " in event and b"event: log" not in event and time.time() > since:
                    self.whole_at = 0.0  # the page already contains earlier events
            if self.cookie and (self.looking is None or self.looking.done()):
                self.looking = asyncio.create_task(self._look())

    def _receive(self, event, since):
        fields = dict(line.split(": ", 1) for line in event.splitlines() if not line.startswith(":"))
        self.position = fields.get("id", self.position)
        if fields.get("event") == "log":
            self._count(json.loads(fields["data"])["text"], since)
        self.ended = self.ended or fields.get("event") == "end"

    def _count(self, text, since):
        now = time.time()
        *lines, self.tail = (self.tail + text).split("\n")
        for line in lines:
            if line.startswith("line "):
                _, number, printed = line.split()
                self.numbers.append(int(number))
                if float(printed) > since:
                    self.delays.append((now - float(printed)) * 1000)

    async def _look(self):
        """Sends the request that the run's page sends after events, then pauses like the page."""
        begun = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            part = "&part=log" if begun - self.whole_at < _WHOLE_S else ""
            self.whole_at = self.whole_at if part else begun
            path = f"/runs/{self.uid}/live/?attempt=1&position={self.lines}{part}"
            head = f"GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nCookie: {self.cookie}\r\n\r\n"
            writer.write(head.encode())
            text = (await reader.read(-1)).decode()
        finally:
            writer.close()
        took = time.monotonic() - begun
        self.looks.append(took * 1000)
        if found := re.search(r'id="log-new" data-position="([0-9.]+)"', text):
            self.lines = found[1]
        await asyncio.sleep(max(_LOOK_S, 8 * took))
