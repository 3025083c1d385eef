"""Links the entries of the audit log into a hash chain, and removes personal values from it.

Entries are linked in the background, in the order in which the linker sees their commits.
"""

import json
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from registry.audit_chain import hashing, sql
from registry.models import AuditChain, AuditEntry, User

_ROW = 1
BATCH = 500
SHELL = "shell"


def link_pending(*, batches: int = 20) -> int:
    """Links entries without a link, at most ``batches`` times ``BATCH``; returns their number."""
    total = 0
    for _ in range(batches):
        linked = link_batch()
        total += linked
        if linked < BATCH:
            break
    return total


def link_batch() -> int:
    """Links up to ``BATCH`` entries in one transaction and returns their number. Returns 0 while another
    process holds the lock on the chain's row: only one process links at a time.
    """
    if not AuditEntry.objects.filter(sequence=None).exists():
        return 0  # an idle loop takes no lock
    AuditChain.objects.get_or_create(pk=_ROW)
    skip_locked = bool(connection.features.has_select_for_update_skip_locked)
    with transaction.atomic():
        chain = AuditChain.objects.select_for_update(skip_locked=skip_locked).filter(pk=_ROW).first()
        return _link(chain) if chain else 0


def _link(chain: AuditChain) -> int:
    pending = AuditEntry.objects.filter(sequence=None).order_by("pk")
    # Locked, so that erasing a person does not change a value between its commitment and the update.
    keys = [*pending.select_for_update(no_key=True).values_list("pk", flat=True)[:BATCH]]
    updates: list[tuple[int | str, ...]] = []
    for values in AuditEntry.objects.filter(pk__in=keys).order_by("pk").values_list(*hashing.COLUMNS):
        row = hashing.Row(*values)
        salts = hashing.new_salts(row)
        commitments = hashing.commitments(row, salts)
        previous = chain.head_hash
        chain.sequence += 1
        chain.head_hash = hashing.entry_hash(
            row, sequence=chain.sequence, previous=previous, commitments=commitments
        )
        link = (chain.sequence, previous, chain.head_hash, json.dumps(salts), json.dumps(commitments))
        updates.append((*link, row.pk))
    sql.link_entries(updates)
    chain.save()
    return len(updates)


def erase_person(user: User, names: list[str]) -> None:
    """Removes the person's values and their salts from all entries, which stay verifiable.

    ``names`` are the person's former user name and e-mail address, ``user`` already has the opaque name.
    """
    about_people = Q(action__startswith="member.") | Q(action__startswith="user.")
    _erase(AuditEntry.objects.filter(about_people, target__in=names), {"target": user.username})
    own = AuditEntry.objects.filter(user=user)
    _erase(own.exclude(address=""), {"address": ""})
    _erase(own.exclude(token_name__in=["", SHELL]), {"token_name": ""})
    _erase(own.filter(action__startswith="token."), {"detail": {}})  # has the token's name


def _erase(rows: QuerySet[AuditEntry], values: dict[str, Any]) -> None:
    """Replaces the columns and deletes the salts of these values."""
    for entry in [*rows.select_for_update(no_key=True).order_by("pk")]:
        for column, value in values.items():
            setattr(entry, column, value)
            entry.salts.pop(column.removesuffix("_name"), None)
        entry.save(update_fields=[*values, "salts"])
