"""Secrets of a team: kept sealed, granted by a person to what was read, given to a run alone."""

from registry.secrets import codes as codes
from registry.secrets.giving import Given, given_to, missing_of, require_given, values_of
from registry.secrets.granting import (
    GRANTED_FOR,
    grant,
    granted_for,
    grants_of,
    hosts_of,
    reach_of,
    revoke,
    starts_of,
)
from registry.secrets.keeping import find_secret, put_secret, remove_secret, require_reader, secrets_of
from registry.secrets.reviews import may_review, review, reviewed_by, withdraw_review

__all__ = [
    "GRANTED_FOR",
    "Given",
    "find_secret",
    "given_to",
    "grant",
    "granted_for",
    "grants_of",
    "hosts_of",
    "may_review",
    "missing_of",
    "put_secret",
    "reach_of",
    "remove_secret",
    "require_given",
    "require_reader",
    "review",
    "reviewed_by",
    "revoke",
    "secrets_of",
    "starts_of",
    "values_of",
    "withdraw_review",
]
