"""Archive → package → manifest → problems. Pure Python: imports no Django and nothing of the floors above."""

from __future__ import annotations

from registry.packages import codes as codes  # completes the one list of codes
