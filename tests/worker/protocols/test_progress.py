"""Progress on stderr."""

from __future__ import annotations

import pytest

from worker.protocols.formats.progress import parse_progress


@pytest.mark.row("B6")
def test_line_states_the_percentage_of_the_script():
    lines = {
        "50% complete": 50,
        "INFO 100% complete\n": 100,
        "0% Complete": 0,
        "12.5 % complete": 12,
        "75% done": 75,
        "120% complete": None,
        "50%": None,
        "-5% complete": None,
        "1000% complete": None,
        "disk 50% completely full": None,
        "x" * 100_000 + "50% complete": None,
        "": None,
    }
    assert {line: parse_progress(line) for line in lines} == lines
