"""docs/explanation/security.md names for each promise the test that shows it."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.architecture.sources import ROOT

_PAGE = (ROOT / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
_NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", _PAGE)))
_FILES = sorted(set(re.findall(r"`(tests/[\w/]+\.py)`", _PAGE)))


@pytest.mark.row("P9")
def test_every_test_that_the_security_page_names_is_there():
    missing = [f"{path}::{name}" for path, name in _NAMED if name not in _tests_of(path)]
    assert not missing, missing
    assert len(_NAMED) >= 30
    assert all((ROOT / path).exists() for path in _FILES)


@cache
def _tests_of(path):
    file = ROOT / path
    if not file.exists():
        return set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
