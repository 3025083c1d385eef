"""One server: Django behind a WSGI bridge, and beside it the few lanes that last or stream.

A lane asks Django once who may (by the same request that a client would make), then never blocks a thread.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, cast
from urllib.parse import quote_from_bytes

from portal.lanes.bodies import BodyLane
from portal.lanes.bridge import Bridge
from portal.lanes.events import EventLane
from portal.lanes.files import FileLane, hand_over_files
from portal.lanes.waiting import WaitLane
from portal.wsgi import application as django_application

if TYPE_CHECKING:
    from portal.lanes.inner import App, Receive, Scope, Send

WEB_THREADS = 4
_QUERY_SAFE = "".join(chr(c) for c in range(33, 127))


class Application:
    def __init__(self) -> None:
        django = Bridge(hand_over_files(django_application), workers=WEB_THREADS)
        self.app = BodyLane(EventLane(WaitLane(FileLane(cast("App", django)))))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            # The bridge takes ASCII only; a client may send raw bytes.
            scope["query_string"] = quote_from_bytes(scope["query_string"], safe=_QUERY_SAFE).encode()
        await self.app(scope, receive, send)


application = Application()
import_module("portal.urls")  # every page is loaded before what stays is put aside
gc.collect()
gc.freeze()  # what stays is not looked through again and again: a fifth of a match was that
