"""Starts and stops the background work of a web process."""

import asyncio

from portal.streaming.inner_request import Receive, Send
from registry.batched_writes import writer
from registry.documentation.search import build_index


async def run_lifespan(receive: Receive, send: Send) -> None:
    """Runs the writer of batched values while the server runs. At the end, writes the remaining values.

    After the start, builds the index of the documentation, which would delay the first search by a second.
    """
    await receive()
    writer.start()
    await send({"type": "lifespan.startup.complete"})
    index = asyncio.create_task(asyncio.to_thread(build_index))
    await receive()
    index.cancel()
    await asyncio.to_thread(writer.stop)
    await send({"type": "lifespan.shutdown.complete"})
