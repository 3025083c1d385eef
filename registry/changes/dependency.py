"""The dependencies of cached answers: kinds and keys of rows that have a change number."""

from registry.models import ChangeKind

Dependency = tuple[int, int]  # ChangeKind and key
COMMON: Dependency = (ChangeKind.COMMON.value, 0)
CATALOG: Dependency = (-1, 0)  # any skill or team: lists of skills depend on it
