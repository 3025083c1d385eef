"""The dependencies of cached answers: rows whose changes have numbers."""

from registry.models import ChangeKind

Dependency = tuple[int, int]  # ChangeKind and key
COMMON: Dependency = (ChangeKind.COMMON.value, 0)
CATALOG: Dependency = (-1, 0)  # any skill or team: lists of skills depend on it
