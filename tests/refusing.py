"""Which code a call is refused with."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refusal


def code(call, *args, **kwargs):
    with pytest.raises(Refusal) as error:
        call(*args, **kwargs)
    return error.value.code
