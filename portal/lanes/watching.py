"""What followers of runs and imports ask the database, asked once for all who stand at the same place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections

_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="watching")
_under_way: dict[tuple[Any, ...], asyncio.Future[Any]] = {}


async def has_ended(kind: str, uid: str) -> bool:
    """Of a run, of an import, or of the wait for somebody who lets a run start."""
    from registry.imports.queue import has_ended as of_import
    from worker.events import has_ended as of_run
    from worker.events import is_decided

    questions = {"runs": of_run, "imports": of_import, "approvals": is_decided}
    return bool(await _shared(questions[kind], uid))


async def events_after(uid: str, position: str) -> Any:
    from worker.events import events_after as question

    return await _shared(question, uid, position)


async def _shared(question: Callable[..., Any], *arguments: Any) -> Any:
    """Two who ask the same at the same time get the same answer, from one look."""
    key = (question, *arguments)
    if key not in _under_way:
        loop = asyncio.get_running_loop()
        future = _under_way[key] = loop.run_in_executor(_threads, _ask, question, *arguments)
        future.add_done_callback(lambda _: _under_way.pop(key, None))
    return await asyncio.shield(_under_way[key])


def _ask(question: Callable[..., Any], *arguments: Any) -> Any:
    close_old_connections()
    try:
        return question(*arguments)
    finally:
        close_old_connections()
