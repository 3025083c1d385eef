"""Short checks for the middle of an expression."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def not_none(value: Value | None) -> Value:
    """The value; None fails the test."""
    assert value is not None
    return value
