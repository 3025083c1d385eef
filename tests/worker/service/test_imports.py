"""Imports in the worker: by interval, one slot always left to runs, and what a dead worker left."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core.errors import UNAVAILABLE
from registry.identity.actors import Actor
from registry.imports import queue, run_import, sources
from registry.models import Import, Skill, Source
from tests.checks import not_none
from tests.factories.trees import save_folder_source, skill_md, write_tree
from worker.attempts import storage_gate
from worker.service import import_jobs
from worker.service.reaper import reap_once

pytestmark = [pytest.mark.row("D3"), pytest.mark.django_db]


@pytest.fixture
def root(administrator):
    return Actor(user=administrator)


@pytest.fixture
def source(tmp_path, team, root):
    return save_folder_source(root, team, write_tree(tmp_path, {"skills/a/SKILL.md": skill_md("a")}))


@pytest.fixture
def woken(monkeypatch):
    """The wake-ups of the reaper."""
    sent = []
    monkeypatch.setattr("worker.service.reaper.wake_importer", lambda: sent.append(1) or True)
    return sent


def test_the_reaper_wakes_for_what_was_missed_and_for_what_a_dead_worker_left(source, root, woken):
    reap_once()
    assert woken == []
    queue.request_import(source, root)
    reap_once()
    assert woken == [1]
    queue.claim_next(timezone.now())
    reap_once()
    assert woken == [1], "somebody works on it"
    Import.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    reap_once()
    assert woken == [1, 1]
    assert import_jobs.import_waiting() == 1
    assert Import.objects.get().status == "done"
    assert Skill.objects.filter(slug="a").count() == 1


def test_a_source_with_an_interval_is_imported_when_its_time_has_come(source, woken):
    Source.objects.update(interval_s=600, next_at=timezone.now() - timedelta(seconds=1))
    reap_once()
    reap_once()
    assert Import.objects.count() == 1
    assert not_none(Source.objects.get().next_at) > timezone.now() + timedelta(seconds=500)
    assert import_jobs.import_waiting() == 1
    assert Import.objects.get().status == "done"


def test_an_interval_that_ends_during_an_import_asks_for_none_beside_it(source, root):
    queue.request_import(source, root)
    Source.objects.update(interval_s=600, next_at=timezone.now())
    import_jobs.request_due()
    assert Import.objects.count() == 1


@pytest.mark.parametrize(("workers", "begun"), [(1, 1), (2, 1), (3, 2)])
def test_imports_leave_a_slot_to_runs(settings, tmp_path, team, root, workers, begun, monkeypatch):
    settings.SKILLQUAY_WORKERS = workers
    for name in ("x", "y", "z"):
        queue.request_import(
            save_folder_source(root, team, write_tree(tmp_path / name, {"a/SKILL.md": skill_md(name)})), root
        )
    monkeypatch.setattr(import_jobs, "_import", lambda lease: True)
    import_jobs.import_waiting()
    assert Import.objects.filter(status="running").count() == begun


@pytest.mark.parametrize("place", ["registry.imports.run_import._read", "registry.storage.blobs.store"])
@pytest.mark.usefixtures("local_storage")
def test_import_without_storage_is_given_back_and_done_when_storage_is_back(source, root, monkeypatch, place):
    """The second place counts per skill: none of them is reported as refused."""
    monkeypatch.setattr(storage_gate, "_lost", False)

    def fail(*args, **kwargs):
        raise UNAVAILABLE.refusal()

    queue.request_import(source, root)
    with monkeypatch.context() as patched:
        patched.setattr(place, fail)
        assert import_jobs.import_waiting() == 0
    report = Import.objects.get()
    assert (report.status, report.attempt, report.problems) == ("queued", 0, [])
    assert not report.rows.exists()
    assert storage_gate._lost, "this process claims no runs until the storage answers"
    assert import_jobs.import_waiting() == 1
    assert Import.objects.get().status == "done"
    assert Skill.objects.filter(slug="a").count() == 1


def test_import_in_the_shell_without_storage_fails(source, root, monkeypatch):
    def fail(*args):
        raise UNAVAILABLE.refusal()

    monkeypatch.setattr(run_import, "_read", fail)
    report = run_import.import_now(source, root)
    assert (report.status, report.problems[0]["code"]) == ("failed", "UNAVAILABLE")


def test_folders_that_killed_imports_left_are_swept(source, root):
    hold = queue.start_import(source, root)
    report = Import.objects.get(pk=hold.job.pk)
    (run_import._root() / f"{report.uid}-live").mkdir()
    (run_import._root() / "01gone-x").mkdir()
    assert run_import.sweep_scratch() == 1
    assert [folder.name for folder in run_import._root().iterdir()] == [f"{report.uid}-live"]


def test_an_interval_is_for_what_can_be_read_without_anybody(source, root):
    from registry.packages.problems import Refusal

    with pytest.raises(Refusal) as refused:
        sources.save_source(source, root, interval_s=600)
    assert refused.value.code == "IMPORT_INTERVAL"
