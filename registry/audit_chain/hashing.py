"""Hashes of the audit log's chain, version 1. ``docs/reference/audit.md`` documents the algorithm."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from registry.core.time import rfc3339

VERSION = 1
GENESIS = "0" * 64  # the previous hash of the first entry
COLUMNS = (
    *("pk", "sequence", "previous_hash", "entry_hash", "salts", "commitments", "uid", "at"),
    *("user__uid", "as_user__uid", "capacity", "team__uid", "action"),
    *("target", "detail", "token_name", "address"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The chained columns of an audit entry, in the order of ``COLUMNS``."""

    pk: int
    sequence: int | None
    previous_hash: str
    entry_hash: str
    salts: Any  # dict[str, str] unless tampered with
    commitments: Any
    uid: str
    at: datetime
    user: str | None  # uid
    as_user: str | None  # uid
    capacity: str
    team: str | None  # uid
    action: str
    target: str
    detail: Any
    token: str
    address: str

    def personal_values(self) -> dict[str, Any]:
        """The values that can name a person. The hash contains only commitments to them."""
        return {
            "target": self.target,
            "detail": self.detail,
            "token": self.token,
            "address": self.address,
        }


def new_salts(row: Row) -> dict[str, str]:
    return {name: secrets.token_hex(16) for name in row.personal_values()}


def commitment(salt: str, name: str, value: object) -> str:
    """The hash of the value with its salt; without the salt, it reveals nothing about the value."""
    return _sha256([salt, name, value])


def commitments(row: Row, salts: Mapping[str, str]) -> dict[str, str]:
    return {name: commitment(salts[name], name, value) for name, value in row.personal_values().items()}


def entry_hash(row: Row, *, sequence: int | None, previous: str, commitments: object) -> str:
    return _sha256(
        {
            "version": VERSION,
            "sequence": sequence,
            "previous": previous,
            "id": row.uid,
            "at": rfc3339(row.at),
            "user": row.user,
            "as_user": row.as_user,
            "capacity": row.capacity,
            "team": row.team,
            "action": row.action,
            "commitments": commitments,
        }
    )


def _sha256(value: object) -> str:
    """The hash of the value as JSON: keys sorted, no spaces, only ASCII characters."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
