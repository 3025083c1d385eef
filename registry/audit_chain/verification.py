"""Verifies the hash chain of the audit log, up to the first entry that was changed, moved or removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from registry.audit_chain import hashing
from registry.audit_chain.hashing import Row
from registry.models import AuditChain, AuditEntry

_ROWS_AT_ONCE = 2000
_ERASURE = "person.erase"
_PSEUDONYM = re.compile(r"erased-([0-9a-z]{26})")


class MismatchReason(StrEnum):
    """The reasons for which an entry fails the verification."""

    CHANGED = "changed"
    MISSING = "missing"
    OUT_OF_PLACE = "out_of_place"  # inserted or moved
    TRUNCATED = "truncated"  # this and all later entries are missing
    HEAD_UNKNOWN = "head_unknown"  # the remembered head is not in the chain


@dataclass(frozen=True)
class Mismatch:
    """The first entry that does not match."""

    reason: MismatchReason
    sequence: int
    uid: str = ""  # "" if there is no such entry


@dataclass
class Verification:
    """The result of a verification: the numbers of entries, and the last verified link."""

    linked: int = 0
    unlinked: int = 0
    erased_values: int = 0
    sequence: int = 0
    head: str = hashing.GENESIS
    mismatch: Mismatch | None = None
    _erased: dict[str, bool] = field(default_factory=dict)  # by uid of a user

    def add(self, row: Row) -> Mismatch | None:
        """Verifies the next entry; returns the mismatch, if any."""
        expected = self.sequence + 1
        if row.sequence is not None and row.sequence > expected:
            return Mismatch(MismatchReason.MISSING, expected)
        if row.sequence != expected or row.previous_hash != self.head:
            return Mismatch(MismatchReason.OUT_OF_PLACE, expected, row.uid)
        if not self._matches(row):
            return Mismatch(MismatchReason.CHANGED, expected, row.uid)
        self.sequence, self.head = expected, row.entry_hash
        self.linked += 1
        return None

    def _matches(self, row: Row) -> bool:
        computed = hashing.entry_hash(
            row, sequence=row.sequence, previous=row.previous_hash, commitments=row.commitments
        )
        if computed != row.entry_hash or not isinstance(row.salts, dict):
            return False
        if not isinstance(row.commitments, dict):
            return False
        for name, value in row.personal_values().items():
            salt = row.salts.get(name)
            if salt is None:
                if not self._is_erased(row, name, value):
                    return False
                self.erased_values += 1
            elif hashing.commitment(salt, name, value) != row.commitments.get(name):
                return False
        return True

    def _is_erased(self, row: Row, name: str, value: object) -> bool:
        """Whether a value without salt belongs to a person whose erasure is in the log."""
        if name == "target":
            match = _PSEUDONYM.fullmatch(str(value))
            return match is not None and self._was_erased(match[1])
        return value in ("", {}) and self._was_erased(row.user)

    def _was_erased(self, uid: str | None) -> bool:
        if uid is None:
            return False
        if uid not in self._erased:
            entries = AuditEntry.objects.filter(action=_ERASURE, target=f"erased-{uid}")
            self._erased[uid] = entries.exists()
        return self._erased[uid]


def verify(
    *, head: str = "", on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Verification:
    """Verifies all linked entries in order, up to the first mismatch. Other processes may link entries
    during the verification.

    ``head`` is a hash that the chain must contain. ``on_progress`` gets the numbers of verified and of linked
    entries after each batch.
    """
    result = Verification()
    remembered = _chain()
    is_head_known = head in ("", hashing.GENESIS)
    for batch in _batches():
        for row in batch:
            result.mismatch = result.add(row)
            if result.mismatch is None and result.sequence == remembered.sequence:
                result.mismatch = _compare(result, row, remembered)
            if result.mismatch:
                return _counted(result)
            is_head_known |= row.entry_hash == head
        on_progress(result.linked, max(result.linked, remembered.sequence))
    result.mismatch = _end_mismatch(result, remembered)
    if not result.mismatch and not is_head_known:
        result.mismatch = Mismatch(MismatchReason.HEAD_UNKNOWN, result.sequence)
    return _counted(result)


def _compare(result: Verification, row: Row, remembered: AuditChain) -> Mismatch | None:
    is_same = result.head == remembered.head_hash
    return None if is_same else Mismatch(MismatchReason.CHANGED, result.sequence, row.uid)


def _end_mismatch(result: Verification, remembered: AuditChain) -> Mismatch | None:
    if result.sequence < remembered.sequence:
        return Mismatch(MismatchReason.TRUNCATED, result.sequence + 1)
    last = _chain().sequence
    return Mismatch(MismatchReason.OUT_OF_PLACE, last + 1) if result.sequence > last else None


def _counted(result: Verification) -> Verification:
    result.unlinked = AuditEntry.objects.filter(sequence=None).count()
    return result


def _chain() -> AuditChain:
    return AuditChain.objects.first() or AuditChain()


def _batches() -> Iterator[list[Row]]:
    """All linked entries in order. Sequence numbers are unique, so none is read twice."""
    linked = AuditEntry.objects.filter(sequence__isnull=False).order_by("sequence")
    rows = linked.values_list(*hashing.COLUMNS)
    batch = [Row(*values) for values in rows[:_ROWS_AT_ONCE]]
    while batch:
        yield batch
        batch = [Row(*values) for values in rows.filter(sequence__gt=batch[-1].sequence)[:_ROWS_AT_ONCE]]
