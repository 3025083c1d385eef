"""Identifies what a cached answer depends on: the kind and the key of a row whose changes are numbered."""

from registry.models import ChangeKind

Dependency = tuple[int, int]  # ChangeKind and key
COMMON: Dependency = (ChangeKind.COMMON.value, 0)
CATALOG: Dependency = (-1, 0)  # any skill or team: lists of skills depend on it
