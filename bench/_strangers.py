"""Anonymous clients that hold connections with slow heads, slow bodies or invalid credentials."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

from bench._scratch import ROOT

KINDS = ("head", "body", "cookie", "session", "token")
_BODY = 50_000_000  # announced length of a body
_BURST = 12_000
_BURSTS = {"body": 1, "cookie": 1, "session": 80, "token": 80}
_PER_S = 3_000
_PAUSE_S = 5.0  # pause before a refused client reconnects


class Crowd:
    """A context manager that holds ``connections`` from 200 addresses of this machine, in another process.

    At the end, ``responses`` has the number of responses by status.
    """

    def __init__(self, port, connections, kinds=KINDS):
        self.command = [sys.executable, "-m", "bench._strangers", str(port), str(connections), *kinds]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.process.stdout.readline()  # wait until all have connected once
        return self

    def __exit__(self, *error):
        self.responses = json.loads(self.process.communicate()[0])


class _Clients:
    def __init__(self, port, kinds):
        self.port, self.kinds = port, kinds
        self.responses = Counter()  # by status

    async def run(self, connections):
        clients = [asyncio.create_task(self._come_back(number)) for number in range(connections)]
        while self.opened < connections:
            await asyncio.sleep(0.02)
        print("connected", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        print(json.dumps(self.responses))

    opened = 0

    async def _come_back(self, number):
        while True:
            with suppress(OSError):
                await self._hold(number)
            await asyncio.sleep(_PAUSE_S)

    async def _hold(self, number):
        source = (f"127.0.0.{2 + number % 200}", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=source)
        self.opened += 1
        sending = asyncio.create_task(self._send(writer, self.kinds[number % len(self.kinds)]))
        try:
            answer = await reader.read(1000)
            self.responses[answer[9:12].decode() or "closed"] += 1
        finally:
            sending.cancel()
            writer.close()

    async def _send(self, writer, kind):
        """Sends the head and, except for the kind ``head``, part of the body at once, and the rest slowly."""
        writer.write(_head(kind))
        with suppress(OSError):
            for _ in range(_BURSTS.get(kind, 0)):
                writer.write(bytes(_BURST))
                await writer.drain()
            while kind != "head":
                await asyncio.sleep(1)
                writer.write(bytes(_PER_S))
                await writer.drain()


def _head(kind):
    if kind == "head":
        return b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"x" * 15_000
    credential = {
        "body": "",
        "cookie": "Cookie: x=1\r\n",
        "session": f"Cookie: sessionid={secrets.token_hex(16)}\r\n",
        "token": f"Authorization: Bearer sq_{secrets.token_urlsafe(32)}\r\n",
    }[kind]
    path = "/sign-in/" if kind == "cookie" else "/api/v1/packages?team=ops"
    length = 900_000 if kind in ("body", "cookie") else _BODY
    return f"POST {path} HTTP/1.1\r\nHost: a\r\n{credential}Content-Length: {length}\r\n\r\n".encode()


def sign_in(url, username, password):
    """Signs in like a browser; returns the status, the last page, and whether a session cookie was set."""
    jar = CookieJar()
    browser = build_opener(HTTPCookieProcessor(jar))
    page = browser.open(f"{url}/sign-in/", timeout=60).read().decode()
    [key, *_others] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    form = urlencode({"csrfmiddlewaretoken": key, "username": username, "password": password})
    try:
        with browser.open(f"{url}/sign-in/", form.encode(), timeout=60) as answer:
            status, page = answer.status, answer.read().decode()
    except HTTPError as error:
        status, page = error.code, error.read().decode()
    return status, page, any(cookie.name == "sessionid" for cookie in jar)


def held_bytes(pid):
    """The bytes of the process's private memory, and of deleted files that it has open."""
    [memory] = re.findall(r"^Private_Dirty: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    disk = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if os.readlink(link).endswith(" (deleted)"):
                disk += link.stat().st_blocks * 512
    return int(memory) * 1024, disk


if __name__ == "__main__":
    asyncio.run(_Clients(int(sys.argv[1]), sys.argv[3:]).run(int(sys.argv[2])))
