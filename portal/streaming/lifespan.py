"""Starts and stops the background work of a web process."""

import asyncio

from portal.streaming.inner_request import Receive, Send
from registry.batched_writes import writer


async def run_lifespan(receive: Receive, send: Send) -> None:
    """Runs the writer of batched values while the server runs. At the end, writes the remaining values."""
    await receive()
    writer.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.to_thread(writer.stop)
    await send({"type": "lifespan.shutdown.complete"})
