"""Which code a call is refused with."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refused


def code(call, *args, **kwargs):
    with pytest.raises(Refused) as error:
        call(*args, **kwargs)
    return error.value.code
