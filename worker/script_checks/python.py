"""Finds syntax errors of Python scripts, with the interpreter that runs use."""

from __future__ import annotations

import ast
import warnings

from registry.packages.command_lines.python.source import is_too_costly
from worker.script_checks.parsers import SyntaxFault, interpreter_label


def find_fault(data: bytes) -> SyntaxFault | None:
    """The first syntax error; None if there is none, or if parsing would take too much time or memory."""
    if is_too_costly(data.decode("utf-8", "replace")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except SyntaxError as error:
        return SyntaxFault(error.lineno, error.msg or "", interpreter_label("python", "Python"))
    except ValueError as error:  # a null byte
        return SyntaxFault(None, str(error), interpreter_label("python", "Python"))
    except (RecursionError, MemoryError):
        return None
    return None
