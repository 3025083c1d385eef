"""Progress on stderr."""

from __future__ import annotations

import pytest

from worker.protocols.formats.progress import parse_progress


@pytest.mark.row("B6")
@pytest.mark.parametrize(
    ("line", "percent"),
    [
        ("50% complete", 50),
        ("INFO 100% complete\n", 100),
        ("0% Complete", 0),
        ("12.5 % complete", 12),
        ("75% done", 75),
        ("120% complete", None),
        ("50%", None),
        ("-5% complete", None),
        ("1000% complete", None),
        ("disk 50% completely full", None),
        ("x" * 100_000 + "50% complete", None),
        ("", None),
    ],
)
def test_a_line_may_tell_how_far_the_script_is(line, percent):
    assert parse_progress(line) == percent
