"""Maps import names to the distributions that provide them. Uses only the table of this project."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from packaging.utils import canonicalize_name

from registry.packages.needs.distribution_table import OTHER_NAMES, SAME_NAMES


def distribution_of(module: str) -> str:
    """The distribution of a module, by the longest dotted prefix in the table; "" if the table has none.

    A name outside the table is never guessed: another project may own the distribution of this name.
    """
    table = _table()
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if found := table.get(".".join(parts[:length])):
            return found
    return ""


@cache
def _table() -> Mapping[str, str]:
    other = dict(line.split() for line in OTHER_NAMES.splitlines() if line.strip())
    return {**{name: canonicalize_name(name) for name in SAME_NAMES.split()}, **other}
