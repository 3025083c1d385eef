"""Runs that other runs start: the worker's side of a script's door."""

from worker.children import codes as codes
from worker.children.door import Door, opened
from worker.children.lineage import DEEPEST, MOST, Lineage, require_pressable

__all__ = ["DEEPEST", "MOST", "Door", "Lineage", "opened", "require_pressable"]
