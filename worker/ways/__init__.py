"""How an attempt is carried out: one module a way, chosen by the call's protocol."""

from __future__ import annotations

from collections.abc import Mapping

from worker.protocols.call import Call, Protocol
from worker.ways import endpoint, fork, prompt, script
from worker.ways.values import Attempted, Result, Way

__all__ = ["Attempted", "Result", "Way", "carry_out"]

_WAYS: Mapping[Protocol, Way] = {
    "script": script.carry_out,
    "stdin_json": script.carry_out,
    "execute": script.carry_out,
    "abp": script.carry_out,
    "prompt": prompt.carry_out,
    "fork": fork.carry_out,
    "endpoint": endpoint.carry_out,
}


def carry_out(attempted: Attempted, call: Call) -> Result:
    """Does what was asked for; raises Refused where it cannot even begin."""
    return _WAYS[call.protocol](attempted, call)
