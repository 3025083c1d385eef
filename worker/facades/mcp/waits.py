"""The description of a wait for a run, which the view passes to the event loop."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

WAIT_HEADER = "Skillquay-MCP-Wait"  # header of the view's response, never sent to clients


@dataclass(frozen=True)
class RunWait:
    """A wait of ``seconds`` for the end of a run or, with ``for_approval``, for the decision.

    ``body`` is the request that then returns the run. ``progress_token`` is set if the client reads progress
    notifications.
    """

    run: str
    for_approval: bool
    seconds: int
    progress_token: str | int | None
    body: str

    def header(self) -> str:
        return json.dumps(asdict(self))
