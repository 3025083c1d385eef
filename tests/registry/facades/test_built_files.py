"""Tarballs and packs are built once: a process that starts later reads them, and a purge removes them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from registry.facades import built_files
from registry.facades.git import kept, objects
from registry.facades.npm import tarballs
from registry.identity.actors import Actor
from registry.models import BuiltFile
from registry.storage import blobs
from registry.versions.lifecycle.purge import purge_version
from tests.factories.skills import publish_files, tidy_files
from tests.registry.facades.conftest import get
from tests.registry.facades.test_git import SKILL, clone_body, cloned, line, post, refs

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
TARBALL = "/npm/@docs/weekly-report/-/weekly-report-1.2.0.tgz"
PACKUMENT = "/npm/@docs/weekly-report"


@pytest.fixture(autouse=True)
def fresh_process():
    """Forgets the answers of earlier tests: a repository of the same second has the same key."""
    kept.forget()
    tarballs._known.clear()


@pytest.fixture
def restart(monkeypatch):
    """``restart()``: forgets what this process knows, and fails the test if it reads a package."""

    def read_repacked(data):
        raise AssertionError("a package is read again")

    def make():
        kept.forget()
        tarballs._known.clear()
        for module in (tarballs, objects):
            monkeypatch.setattr(module, "read_repacked", read_repacked)

    return make


def test_new_process_answers_npm_without_building(report, restart):
    document, data = get(PACKUMENT).json(), get(TARBALL).getvalue()
    restart()
    assert get(PACKUMENT).json() == document
    assert get(TARBALL).getvalue() == data


def test_new_process_answers_clones_without_building(report, restart):
    main, pack = cloned()
    restart()
    again, same = cloned()
    assert (again, set(same)) == (main, set(pack))


def test_agent_of_a_client_does_not_change_the_kept_answer(report):
    main = refs()["refs/heads/main"]
    for agent in ("git/2.39.2", "git/2.50.1"):
        want = line(f"want {main} side-band-64k ofs-delta agent={agent}\n")
        post(SKILL, want + b"0000" + line("done\n"))
    assert BuiltFile.objects.filter(kind="git").count() == 2  # the references and one answer


def test_number_of_kept_answers_is_limited(report, monkeypatch):
    monkeypatch.setattr(built_files, "MAX_OF_SOURCE", 3)
    main = refs()["refs/heads/main"]
    for depth in range(1, 8):
        post(SKILL, clone_body(main, extra=line(f"deepen {depth}\n")))
    assert BuiltFile.objects.filter(kind="git").count() == 3


def test_files_of_earlier_histories_are_removed(report, team, alice):
    for number in ("1.3.0", "1.4.0", "1.5.0", "1.6.0"):
        publish_files(tidy_files(number), team=team, user=alice)
        cloned()
    sources = set(BuiltFile.objects.filter(kind="git").values_list("source", flat=True))
    assert len(sources) == built_files.MAX_SOURCES


def test_damaged_blob_is_built_again(report, monkeypatch):
    main, pack = cloned()
    kept.forget()
    for row in BuiltFile.objects.all():
        blobs.backend().remove(row.digest.partition(":")[2], timedelta(0))
    again, same = cloned()
    assert (again, set(same)) == (main, set(pack))


def test_full_disk_does_not_stop_clients(report, monkeypatch):
    def store(data):
        raise OSError("No space left on device")

    monkeypatch.setattr(built_files.blobs, "store", store)
    assert get(TARBALL).getvalue()
    assert cloned()
    assert not BuiltFile.objects.exists()


def test_purge_removes_the_files_of_the_skill(report, team, alice, django_capture_on_commit_callbacks):
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    get(TARBALL).getvalue()
    cloned()
    digests = list(BuiltFile.objects.values_list("digest", flat=True))
    assert all(map(blobs.exists, digests))
    assert set(digests) <= set(built_files.references())
    with django_capture_on_commit_callbacks(execute=True):
        purge_version(report, Actor(user=alice), reason="A secret.")
    assert not BuiltFile.objects.exists()
    assert not any(map(blobs.exists, digests))
