from __future__ import annotations

import hashlib
import os
import time
from datetime import timedelta

import pytest

from registry.packages.problems import Refusal
from registry.storage import blobs as storage
from tests.checks import not_none

pytestmark = pytest.mark.row("P9")


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.fixture
def named(monkeypatch):
    """The digests that rows name; a test adds to it."""
    names = set()
    monkeypatch.setattr(storage.referenced_digests, "receivers", [lambda: names])
    return names


@pytest.mark.parametrize("data", [b"", b"\0", b"a" * 100_000])
def test_what_is_stored_is_read_back_under_its_digest(place, data):
    assert storage.store(data) == digest(data)
    assert storage.read(digest(data)) == data
    with storage.open_blob(digest(data)) as file:
        assert file.read(10) == data[:10]


def test_storing_twice_keeps_one_blob(place):
    assert storage.store(b"same") == storage.store(b"same")
    assert list(storage.digests()) == [digest(b"same")]


def test_a_stream_is_stored_up_to_its_limit(place):
    stored = storage.store_stream((b"x" * 1000 for _ in range(10)), limit=10_000)
    assert stored == storage.StoredBlob(digest(b"x" * 10_000), 10_000)
    with pytest.raises(Refusal) as refused:
        storage.store_stream((b"y" * 1000 for _ in range(11)), limit=10_000)
    assert refused.value.code == "BLOB_TOO_LARGE"
    assert list(storage.digests()) == [digest(b"x" * 10_000)]


def test_a_stream_is_not_read_past_its_limit(place):
    read = []

    def chunks():
        for n in range(1000):
            read.append(n)
            yield b"z" * 1000

    with pytest.raises(Refusal):
        storage.store_stream(chunks(), limit=5000)
    assert len(read) == 6


@pytest.mark.parametrize("name", [digest(b"absent"), "", "sha256:", "sha256:../../etc/passwd", "md5:abc"])
def test_what_is_not_there_is_refused_by_its_code(place, name):
    for look in (storage.read, storage.open_blob):
        with pytest.raises(Refusal) as refused:
            look(name)
        assert refused.value.code == "BLOB_MISSING"


def test_only_what_no_row_names_is_swept(place, named):
    kept, orphan = storage.store(b"kept"), storage.store(b"orphan")
    named.add(kept)
    assert storage.sweep(grace=timedelta(0)) == storage.SweepResult(blobs=1, bytes=6, leftovers=0)
    assert storage.exists(kept)
    assert not storage.exists(orphan)


def test_content_on_its_way_to_its_row_is_not_swept(place, named):
    coming = storage.store(b"coming")
    assert storage.sweep().blobs == 0
    assert storage.exists(coming)


def test_a_young_blob_is_not_removed_after_it_was_listed_as_old(place):
    stored_again = storage.store(b"again")
    assert not storage.backend().remove(stored_again.removeprefix("sha256:"), timedelta(hours=1))
    assert storage.exists(stored_again)


def _make_old(path):
    hours_ago = time.time() - 2 * 3600
    os.utime(path, (hours_ago, hours_ago))


@pytest.mark.usefixtures("local_storage")
def test_storing_an_old_orphan_again_makes_it_young(named):
    orphan = storage.store(b"orphan")
    _make_old(storage.local_path(orphan))
    storage.store(b"orphan")
    assert storage.sweep().blobs == 0
    _make_old(storage.local_path(orphan))
    assert storage.sweep().blobs == 1


@pytest.mark.usefixtures("local_storage")
def test_what_becomes_young_between_look_and_removal_stays(named, monkeypatch):
    orphan = storage.store(b"orphan")
    _make_old(storage.local_path(orphan))

    def meanwhile():
        storage.store(b"orphan")
        return []

    storage.referenced_digests.connect(meanwhile)
    assert storage.sweep().blobs == 0
    assert storage.exists(orphan)


@pytest.mark.usefixtures("local_storage")
def test_leftovers_of_writers_that_died_are_swept(named, var_folder):
    storage.store(b"x")
    for name, old in (("dead", True), ("alive", False)):
        path = var_folder / "blobs" / f".coming-{name}"
        path.write_bytes(b"half")
        if old:
            _make_old(path)
    assert storage.sweep().leftovers == 1
    assert (var_folder / "blobs" / ".coming-alive").exists()


@pytest.mark.usefixtures("local_storage")
def test_a_stream_that_breaks_leaves_nothing(named, var_folder):
    def breaks():
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        storage.store_stream(breaks(), limit=100)
    assert [p.name for p in (var_folder / "blobs").iterdir()] == []


@pytest.mark.usefixtures("local_storage")
def test_blobs_are_their_owners_alone(var_folder):
    path = not_none(storage.local_path(storage.store(b"secret")))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.relative_to(var_folder / "blobs").parts == (
        path.name[:2],
        path.name[2:4],
        path.name,
    )


@pytest.mark.usefixtures("local_storage")
def test_a_damaged_blob_is_never_handed_out_as_whole():
    name = storage.store(b"right")
    not_none(storage.local_path(name)).write_bytes(b"wrong")
    with pytest.raises(Refusal) as refused:
        storage.read(name)
    assert refused.value.code == "BLOB_MISSING"


def test_a_bucket_is_never_opened_with_the_hosts_own_keys(settings, monkeypatch):
    from django.core.exceptions import ImproperlyConfigured

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "host")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "host")
    settings.STORAGE_URL = "s3://bucket"
    settings.SKILLQUAY_S3_ACCESS_KEY = settings.SKILLQUAY_S3_SECRET_KEY = ""
    with pytest.raises(ImproperlyConfigured):
        storage.store(b"x")


@pytest.mark.parametrize(
    "wrong", [{"STORAGE_URL": "s3://no-such-bucket"}, {"SKILLQUAY_S3_ENDPOINT": "http://127.0.0.1:9"}]
)
def test_a_bucket_that_does_not_answer_is_a_refusal_to_try_again(settings, s3_server, monkeypatch, wrong):
    from registry.storage import s3

    monkeypatch.setattr(s3, "_MAX_ATTEMPTS", 1)  # the client waits between more
    settings.SKILLQUAY_S3_ACCESS_KEY = settings.SKILLQUAY_S3_SECRET_KEY = "testing"
    settings.SKILLQUAY_S3_ENDPOINT, settings.STORAGE_URL = s3_server, "s3://bucket"
    for name, value in wrong.items():
        setattr(settings, name, value)
    for ask in (lambda: storage.store(b"x"), lambda: list(storage.digests())):
        with pytest.raises(Refusal) as refused:
            ask()
        assert refused.value.code == "UNAVAILABLE"
    assert not storage.is_reachable()


def test_an_empty_bucket_is_reachable(place):
    assert storage.is_reachable() is (place == "s3")


@pytest.mark.row("P12")
@pytest.mark.parametrize("size", [100_000, 12_000_000])
def test_a_download_that_has_begun_ends_well_though_its_bytes_are_discarded(place, named, size):
    data = os.urandom(size)
    storage.store(data)
    with storage.open_blob(digest(data)) as file:
        begun = file.read(10)
        assert storage.discard([digest(data)]) == 1
        assert begun + file.read() == data
    with pytest.raises(Refusal) as gone:
        storage.open_blob(digest(data))
    assert gone.value.code == "BLOB_MISSING"
