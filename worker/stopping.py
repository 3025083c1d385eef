"""Whether this process was told to end: then it ends the run that it has, and claims no other."""

from __future__ import annotations

from types import FrameType

_told = False


def on_signal(number: int, frame: FrameType | None) -> None:
    global _told
    _told = True


def is_stopping() -> bool:
    return _told
