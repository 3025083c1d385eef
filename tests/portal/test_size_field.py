"""Sizes that people type, such as "10 GB"."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from portal.forms.size_field import SizeField, size_text

pytestmark = pytest.mark.row("P8")


@pytest.fixture
def field():
    return SizeField(required=False, min_value=1, max_value=10**15)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("10 GB", 10**10),
        ("500mb", 500 * 10**6),
        ("1,5 kB", 1_500),
        ("2.25 TB", 2_250 * 10**9),
        (" 7 ", 7),
        ("10000000000", 10**10),
        ("", None),
    ],
)
def test_size_is_read_with_its_unit(field, text, size):
    assert field.clean(text) == size


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ten", "invalid"),
        ("1 GiB", "invalid"),
        ("-1", "invalid"),
        ("0", "min_value"),
        ("9999 TB", "max_value"),
    ],
)
def test_other_text_is_refused(field, text, code):
    with pytest.raises(ValidationError) as refused:
        field.clean(text)
    assert refused.value.code == code


@pytest.mark.parametrize("size", [1, 999, 1_000, 1_234_567, 10**10, 1_500_000_000, 10**12, 123_456_789_012])
def test_shown_size_is_read_as_the_same_number(field, size):
    assert field.clean(size_text(size)) == size


def test_size_is_shown_with_the_largest_fitting_unit(field):
    assert [size_text(size) for size in (10**10, 1_500_000_000, 20_000, 1_234_567)] == [
        "10 GB",
        "1.5 GB",
        "20 kB",
        "1234.567 kB",
    ]
    assert field.prepare_value(10**10) == "10 GB"
    assert field.prepare_value("x") == "x"
