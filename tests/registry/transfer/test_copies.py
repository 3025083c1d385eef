"""Rows and blobs copied between databases, storages and backup files are the same afterwards."""

from __future__ import annotations

import itertools
import json
import os
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from portal.settings import database_settings
from registry.changes import install
from registry.identity import site_key
from registry.models import AuditEntry, Skill, Team, User
from registry.packages.problems import Refusal
from registry.storage import blobs
from registry.storage.disk import DiskBackend
from registry.transfer.archive import BackupFile, BackupWriter
from registry.transfer.blobs import StorageSource
from registry.transfer.copy import applied_migrations, back_up, copy_site
from registry.transfer.database import DatabaseSource, DatabaseTarget
from registry.transfer.tables import Totals, copied_tables
from tests import cluster, migrated
from tests.factories.runs import make_run
from worker.files.inputs import store_input
from worker.models import Run, Schedule
from worker.protocols.call import Request
from worker.schedules.change import ScheduleOptions
from worker.schedules.change import create as create_schedule

pytestmark = [pytest.mark.django_db, pytest.mark.row("P9")]


@pytest.fixture(autouse=True)
def added_databases(monkeypatch, django_db_blocker):
    """Allows databases that a copy adds: Django's tests forbid them."""
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", django_db_blocker._real_ensure_connection)


def _ignore(name, done, total):
    pass


@contextmanager
def _second_database(folder):
    """The alias of an empty database of the suite's own vendor; test_killed.py moves to the other one."""
    with cluster.corner() as environment:
        migrated.lay({**os.environ, **environment, "SKILLQUAY_VAR": str(folder)})
        address = environment["DATABASE_URL"] or f"sqlite://{folder}/skillquay.sqlite3"
        found = connections.configure_settings({"default": database_settings(address)})
        connections.databases["second"] = found["default"]
        try:
            yield "second"
        finally:
            connections["second"].close()
            del connections["second"], connections.databases["second"]


@pytest.fixture
def second(tmp_path):
    with _second_database(tmp_path / "second") as alias:
        yield alias


@pytest.fixture
def site(publish_skill, alice, team):
    """A skill with a version, a failed run with JSON of all kinds, and an audit entry."""
    version = publish_skill("hello")
    result = {"b": 1.0, "a": [None, True, 1e300, -0.5, 2**60, "雪\ud83d\ude00"], "": {}}
    make_run(version, alice, team, result=result, status="failed", failure_code="SCRIPT_FAILED")
    return version


class _Interrupted(Exception):
    pass


def _interrupt(at):
    count = itertools.count()

    def on_progress(name, done, total):
        if next(count) == at:
            raise _Interrupted

    return on_progress


def test_copied_database_has_the_same_rows_even_if_interrupted(site, second, tmp_path, settings):
    source, storage = DatabaseSource("default"), DiskBackend(tmp_path / "blobs")
    originals = StorageSource(blobs.backend())
    for at in (0, 20, 55):
        with pytest.raises(_Interrupted):
            copy_site(
                source, originals, DatabaseTarget(second), storage, expected={}, on_progress=_interrupt(at)
            )
        assert install.missing_triggers(connections[second]), "no process serves an unfinished copy"
    target = DatabaseTarget(second)
    copied = copy_site(source, originals, target, storage, expected={}, on_progress=_ignore)
    target.finish()

    for table in copied_tables():
        assert Totals.of(DatabaseSource(second).rows(table)) == Totals.of(source.rows(table)), table.name
    assert Run.objects.using(second).get().result == Run.objects.get().result
    assert copied.rows >= 10
    assert {key for key, _ in storage.older_than(blobs.timedelta(0))} == set(originals.keys())
    # The database works like any other: triggers, sequences and foreign keys.
    assert not install.missing_triggers(connections[second])
    assert Team.objects.using(second).create(slug="new").pk > site.skill.team_id
    with pytest.raises(IntegrityError), transaction.atomic(using=second):  # noqa: PT012 - at commit
        Run.objects.using(second).update(skill_id=10**9)
        connections[second].check_constraints()


@pytest.mark.row("B7")
def test_copied_schedule_has_its_files(site, second, tmp_path, alice, actor_of):
    stored = store_input([b"rows"], "rows.csv", actor_of(alice))
    options = ScheduleOptions(request=Request(inputs={"arguments": {"input": stored.uid}}), cron="0 9 * * *")
    schedule = create_schedule(site.skill, options, actor_of(alice))
    stored.delete()
    blobs.sweep(grace=blobs.timedelta(0))
    source, storage = DatabaseSource("default"), DiskBackend(tmp_path / "blobs")
    target = DatabaseTarget(second)
    originals = StorageSource(blobs.backend())
    copy_site(source, originals, target, storage, expected={}, on_progress=_ignore)
    (file,) = Schedule.objects.using(second).get(uid=schedule.uid).files
    assert file["digest"] in {f"sha256:{key}" for key, _ in storage.older_than(blobs.timedelta(0))}


def _copy(second, on_progress):
    source, target = DatabaseSource("default"), DatabaseTarget(second)
    return copy_site(source, None, target, blobs.backend(), expected={}, on_progress=on_progress)


def test_changed_copy_is_found(site, second, tmp_path):
    def change(name, done, total):
        if name == "registry.Team":
            Team.objects.using(second).update(name="Changed")

    with pytest.raises(Refusal) as refused:
        _copy(second, change)
    assert refused.value.code == "COPY_DIFFERS"
    with pytest.raises(Refusal) as refused:
        DatabaseTarget(second).begin("another source")
    assert refused.value.code == "OTHER_COPY_UNFINISHED"


def test_broken_reference_in_the_copy_is_found(site, second):
    _copy(second, _ignore)
    target = DatabaseTarget(second)
    target.begin(DatabaseSource("default").name)
    with target._without_foreign_keys():
        Run.objects.using(second).update(skill_id=10**9)
    with pytest.raises(Refusal) as refused:
        target.finish()
    assert refused.value.code == "COPY_DIFFERS"


def test_database_with_a_site_is_no_target(site):
    with pytest.raises(Refusal) as refused:
        DatabaseTarget("default").begin("any source")
    assert refused.value.code == "TARGET_NOT_EMPTY"


@pytest.mark.django_db(transaction=True)
def test_backup_has_the_state_of_its_first_moment(site, tmp_path):
    """Another connection writes between the tables, as a site that serves does."""
    path = tmp_path / "site.backup"

    def add_user():
        User.objects.create_user(f"late-{timezone.now():%f}")
        AuditEntry.objects.create(action="user.created")
        connections["default"].close()

    def write(name, done, total):
        if name == "registry.AuditEntry":
            thread = threading.Thread(target=add_user)
            thread.start()
            thread.join()

    before = User.objects.count()
    result = back_up(path, blobs.backend(), release="test", on_progress=write)
    backup = BackupFile(path)
    tables = {table.name: table for table in copied_tables()}
    users, entries = tables["registry.User"], tables["registry.AuditEntry"]
    assert User.objects.count() == before + 1
    assert len(list(backup.rows(users))) == before
    assert backup.manifest["tables"]["registry.AuditEntry"]["rows"] == len(list(backup.rows(entries)))
    assert result.blobs == len(list(backup.keys())) == sum(1 for _ in blobs.digests())
    with _second_database(tmp_path / "second") as alias:
        target = DatabaseTarget(alias)
        copy_site(backup, backup, target, DiskBackend(tmp_path / "blobs"), expected={}, on_progress=_ignore)
        target.finish()
        assert Skill.objects.using(alias).get().slug == site.skill.slug


def test_backup_that_fails_leaves_no_file(site, tmp_path):
    def fail(name, done, total):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        back_up(tmp_path / "site.backup", blobs.backend(), release="test", on_progress=fail)
    assert list(tmp_path.glob("*.backup*")) + list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("kind", ["empty", "other zip", "cut off"])
def test_file_that_is_no_backup_is_refused(tmp_path, kind):
    path = tmp_path / "site.backup"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": 0}))
    if kind != "other zip":
        path.write_bytes(b"" if kind == "empty" else path.read_bytes()[:-30])
    with pytest.raises(Refusal) as refused:
        BackupFile(Path(path))
    assert refused.value.code == "BACKUP_UNREADABLE"


@pytest.mark.parametrize("changed", ["migrations", "key"])
def test_restore_refuses_a_backup_of_another_release_or_key(tmp_path, changed, capsys):
    path = tmp_path / "site.backup"
    manifest = {
        "release": "0.0.9",
        "key": site_key.fingerprint(),
        "migrations": applied_migrations("default"),
    }
    manifest[changed] = "other"
    with BackupWriter(path).opened() as writer:
        writer.write_manifest({"id": "1", "created_at": "2026-11-24T10:00:00Z", "tables": {}} | manifest)
    with pytest.raises(SystemExit):
        call_command("restore", str(path), json=True)
    code = "KEYS_DIFFER" if changed == "key" else "BACKUP_OF_OTHER_RELEASE"
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == code


def test_blobs_that_are_damaged_are_named(local_storage, site, second):
    path = blobs.local_path(site.digest)
    assert path is not None
    path.write_bytes(b"changed")
    source, storage = DatabaseSource("default"), DiskBackend(path.parent / "copy")
    originals = StorageSource(blobs.backend())
    with pytest.raises(Refusal) as refused:
        copy_site(source, originals, DatabaseTarget(second), storage, expected={}, on_progress=_ignore)
    assert refused.value.code == "BLOBS_DAMAGED"
    assert site.digest in str(refused.value)
