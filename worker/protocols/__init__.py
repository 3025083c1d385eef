"""How scripts are spoken to: a request made ready, what came of it, and what a package offers."""

from worker.protocols.abp import input_schema, output_schema, with_tool
from worker.protocols.menu import Menu, menu
from worker.protocols.outcome import interpret
from worker.protocols.preparing import prepare
from worker.protocols.progress import progress_of

__all__ = [
    "Menu",
    "input_schema",
    "interpret",
    "menu",
    "output_schema",
    "prepare",
    "progress_of",
    "with_tool",
]
