"""Stores problems of a version that are found after its publication."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db import transaction

from registry.models import Version
from registry.packages.problems import Problem
from registry.versions.publishing.version_rows import serialize_problem

Rows = list[dict[str, Any]]  # as in Version.problems


def add_problems(version: Version, problems: Iterable[Problem]) -> None:
    """Adds the problems to those found at publication. Skips those whose code and path are stored already."""

    def add(rows: Rows) -> Rows:
        known = {(each["code"], each["path"]) for each in rows}
        return [*rows, *(serialize_problem(each) for each in problems if (each.code, each.path) not in known)]

    _update_problems(version, add)


def remove_problems(version: Version, codes: Iterable[str]) -> None:
    """Removes the problems with these codes, before they are checked again."""
    removed = set(codes)
    _update_problems(version, lambda rows: [each for each in rows if each["code"] not in removed])


def _update_problems(version: Version, change: Callable[[Rows], Rows]) -> None:
    """Stores the result of ``change`` while the version is locked. Does nothing if the version was deleted,
    or if the number of problems stays the same.
    """
    with transaction.atomic():
        row = Version.objects.select_for_update().filter(pk=version.pk).first()
        if row is None:
            return
        changed = change(row.problems)
        if len(changed) != len(row.problems):
            Version.objects.filter(pk=row.pk).update(problems=changed)
