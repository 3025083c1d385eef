"""The hash chain of the audit log: what raw SQL changes is found, and erasing a person is not a change."""

from __future__ import annotations

import json
import threading

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from registry.audit_chain import hashing, links
from registry.audit_chain.verification import verify
from registry.core import sql
from registry.erasure.people import erase_person
from registry.identity import audit, client_address
from registry.identity.actors import Actor
from registry.models import AuditChain, AuditEntry, Token

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.fixture
def log(alice, team):
    """Nine linked entries."""
    with client_address.bind("198.51.100.7"):
        for number in range(9):
            actor = Actor(user=alice, token=Token(name="nightly"))
            audit.record(actor, "version.yank", f"docs/报告@1.0.{number}", team=team, reason="Wrong 理由 1.5")
    assert links.link_pending() == 9
    return [*AuditEntry.objects.order_by("sequence")]


def found(**options):
    """MismatchReason and sequence number of the first mismatch, None for a whole chain."""
    mismatch = verify(**options).mismatch
    return mismatch and (mismatch.reason.value, mismatch.sequence)


def forged(entry, **changes):
    """A copy of the entry at the next sequence number, with a hash that fits."""
    for name, value in {"pk": None, "uid": f"{'0' * 25}1", "sequence": entry.sequence + 1, **changes}.items():
        setattr(entry, name, value)
    entry.previous_hash = changes.get("previous_hash", entry.entry_hash)
    entry.save()
    (values,) = AuditEntry.objects.filter(pk=entry.pk).values_list(*hashing.COLUMNS)
    row = hashing.Row(*values)
    commitments = hashing.commitments(row, row.salts)
    entry.commitments = commitments
    entry.entry_hash = hashing.entry_hash(
        row, sequence=entry.sequence, previous=entry.previous_hash, commitments=commitments
    )
    entry.save()


def test_whole_chain_verifies(log):
    result = verify(head=log[4].entry_hash)
    assert (result.mismatch, result.linked, result.unlinked) == (None, 9, 0)
    assert (result.sequence, result.head) == (9, log[-1].entry_hash)


def test_first_entry_has_the_documented_hash(log):
    row = log[0]
    body = {
        "version": 1, "sequence": 1, "previous": "0" * 64, "id": row.uid, "at": hashing.rfc3339(row.at),
        "user": row.user.uid, "as_user": None, "capacity": "", "team": row.team.uid, "action": "version.yank",
        "commitments": {
            name: hashing.hashlib.sha256(
                json.dumps([row.salts[name], name, value], separators=(",", ":"), sort_keys=True).encode()
            ).hexdigest()
            for name, value in [
                ("target", row.target), ("detail", row.detail), ("token", "nightly"),
                ("address", "198.51.100.7"),
            ]
        },
    }  # fmt: skip
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    assert hashing.hashlib.sha256(text.encode()).hexdigest() == row.entry_hash


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("target", "docs/other@1.0.4"),
        ("detail", '{"reason": "Right"}'),
        ("token_name", ""),
        ("address", "203.0.113.1"),
        ("action", "version.unyank"),
        ("capacity", "administrator"),
        ("team_id", None),
        ("user_id", None),
        ("as_user_id", "user_id"),
        ("at", "2020-01-01 00:00:00+00:00"),
        ("uid", "0" * 26),
        ("salts", "{}"),
        ("salts", "[]"),
        ("commitments", "{}"),
        ("entry_hash", "0" * 64),
    ],
)
def test_changed_column_is_found(log, column, value):
    mark = value if value == "user_id" else "%s"
    values = [] if value == "user_id" else [value]
    sql.execute(f"UPDATE registry_auditentry SET {column} = {mark} WHERE sequence = 5", values)
    assert found() == ("changed", 5)


def test_changed_value_without_salt_is_found(log):
    sql.execute("UPDATE registry_auditentry SET target = 'erased-x', salts = '{}' WHERE sequence = 5", [])
    assert found() == ("changed", 5)


def test_deleted_entry_is_found(log):
    sql.execute("DELETE FROM registry_auditentry WHERE sequence = 5", [])
    assert found() == ("missing", 5)


def test_unlinked_entry_is_found_even_after_it_is_linked_again(log):
    sql.execute("UPDATE registry_auditentry SET sequence = NULL WHERE sequence = 5", [])
    assert found() == ("missing", 5)
    links.link_pending()
    assert found() == ("missing", 5)


def test_deleted_end_is_found(log):
    sql.execute("DELETE FROM registry_auditentry WHERE sequence > 7", [])
    assert found() == ("truncated", 8)


def test_end_deleted_with_the_chain_s_own_row_is_found_by_the_remembered_head(log, alice):
    head = log[-1].entry_hash
    sql.execute("DELETE FROM registry_auditentry WHERE sequence > 7", [])
    sql.execute("UPDATE registry_auditchain SET sequence = 7, head_hash = %s", [log[6].entry_hash])
    assert found() is None
    assert found(head=head) == ("head_unknown", 7)
    for number in range(3):
        audit.record(Actor(user=alice), "user.create", str(number))
    links.link_pending()
    assert found(head=head) == ("head_unknown", 10)


def test_swapped_entries_are_found(log):
    for before, after in ((4, 99), (5, 4), (99, 5)):
        sql.execute("UPDATE registry_auditentry SET sequence = %s WHERE sequence = %s", [after, before])
    assert found() == ("out_of_place", 4)


def test_entry_inserted_in_the_middle_with_a_fitting_hash_is_found(log):
    for number in range(9, 5, -1):
        sql.execute("UPDATE registry_auditentry SET sequence = %s WHERE sequence = %s", [number + 1, number])
    forged(AuditEntry.objects.get(sequence=5), target="docs/forged@1.0.0")
    assert found() == ("out_of_place", 7)  # the entry after the forged one, which continues another entry


def test_entry_appended_with_a_fitting_hash_is_found(log):
    forged(log[-1], target="docs/forged@1.0.0")
    assert found() == ("out_of_place", 10)


def test_replaced_last_entry_is_found(log):
    sql.execute("DELETE FROM registry_auditentry WHERE sequence = 9", [])
    forged(AuditEntry.objects.get(sequence=8), target="docs/forged@1.0.0")
    assert found() == ("changed", 9)


def test_erased_person_leaves_the_chain_whole(log, alice, charlie, administrator, team):
    root = Actor(user=administrator)
    audit.record(root, "user.create", "charlie")
    with client_address.bind("203.0.113.9"):
        audit.record(Actor(user=charlie, token=Token(name="charlie's laptop")), "team.create", "other")
        audit.record(Actor(user=charlie), "token.issue", "x", name="charlie's laptop")
    links.link_pending()
    head = verify().head
    charlie.memberships.all().delete()
    erase_person(charlie, root)
    links.link_pending()
    result = verify(head=head)
    assert (result.mismatch, result.erased_values, result.linked) == (None, 5, 13)
    texts = json.dumps([*AuditEntry.objects.values("target", "detail", "token_name", "address")])
    assert not any(value in texts for value in ("charlie", "203.0.113.9"))


def test_person_who_erases_the_own_account_leaves_no_address(charlie, bob):
    with client_address.bind("203.0.113.9"):
        erase_person(charlie, Actor(user=charlie))
    links.link_pending()
    assert not AuditEntry.objects.filter(address="203.0.113.9").exists()
    assert found() is None


def test_value_erased_without_an_erasure_in_the_log_is_found(log, charlie, administrator):
    audit.record(Actor(user=administrator), "user.create", "charlie")
    links.link_pending()
    sql.execute(
        "UPDATE registry_auditentry SET target = %s, salts = '{}' WHERE sequence = 10",
        [f"erased-{charlie.uid}"],
    )
    assert found() == ("changed", 10)


@pytest.mark.parametrize("tamper", [False, True])
def test_command_prints_head_and_exit_status(log, administrator, capsys, tamper):
    if tamper:
        sql.execute("UPDATE registry_auditentry SET target = 'x' WHERE sequence = 3", [])
    audit.record(Actor(), "user.create", "mei")
    arguments = ("verify_audit", "--json", "--head", log[8].entry_hash)
    if tamper:
        with pytest.raises(SystemExit) as ended:
            call_command(*arguments)
        assert ended.value.code == 1
    else:
        call_command(*arguments)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["unlinked"]) == (not tamper, 1)
    assert answer["head"]["sequence"] == (2 if tamper else 9)
    assert (answer["mismatch"] or {}).get("entry") == (log[2].uid if tamper else None)


def test_command_is_for_administrators(log, alice, capsys):
    with pytest.raises(SystemExit):
        call_command("verify_audit", "--as", "alice")


def test_reaper_links(alice):
    from worker.service.reaper import reap_once

    entry = audit.record(Actor(user=alice), "user.create", "mei")
    reap_once()
    entry.refresh_from_db()
    assert entry.sequence == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_entry_of_a_late_commit_is_linked_after_later_ones(alice):
    is_recorded, may_commit = threading.Event(), threading.Event()

    def record_slowly():
        with transaction.atomic():
            audit.record(Actor(), "user.create", "late")
            is_recorded.set()
            may_commit.wait(20)
        connection.close()

    thread = threading.Thread(target=record_slowly)
    thread.start()
    is_recorded.wait(20)
    audit.record(Actor(user=alice), "user.create", "early")
    links.link_pending()
    may_commit.set()
    thread.join()
    links.link_pending()
    order = AuditEntry.objects.order_by("sequence").values_list("target", flat=True)
    assert [*order] == ["early", "late"]
    assert found() is None


def test_batches_continue_one_chain(log, alice, monkeypatch):
    monkeypatch.setattr(links, "BATCH", 2)
    monkeypatch.setattr("registry.audit_chain.verification._ROWS_AT_ONCE", 4)
    for number in range(5):
        audit.record(Actor(user=alice), "user.create", str(number))
    assert links.link_pending() == 5
    assert (found(), verify().linked) == (None, 14)
    assert AuditChain.objects.get().sequence == 14
