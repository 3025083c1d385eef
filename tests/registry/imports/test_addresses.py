"""Archives, single files and buckets by their address; the bucket is a real server of the S3 protocol."""

from __future__ import annotations

import io
import tarfile
import zipfile

import pytest

from registry.identity.actors import ANONYMOUS
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath
from registry.imports.clients.buckets import Bucket
from registry.imports.clients.credentials import load_credentials
from registry.imports.readers import git, mcp
from registry.imports.readers import url as address
from registry.imports.readers.options import provenance
from registry.models import ImportStatus, Source
from registry.packages.problems import Refusal
from tests.servers.http import KEYS

pytestmark = [pytest.mark.row("P3"), pytest.mark.django_db]


def _skill(name):
    return f"---\nname: {name}\ndescription: What {name} does.\n---\nSay hello.\n".encode()


FILES = {"skills/one/SKILL.md": _skill("one"), "skills/two/SKILL.md": _skill("two")}


def _zip(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return buffer.getvalue()


def _tar(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@pytest.fixture
def source(team):
    def made(location, **options):
        location, options = address.check(location, options, ANONYMOUS)
        return Source.objects.create(team=team, kind="url", location=location, options=options)

    return made


def _read(source, tmp_path):
    number = len(list(tmp_path.iterdir()))
    scratch = tmp_path / str(number)
    scratch.mkdir()
    reading = address.read(source, ANONYMOUS, scratch, ReadProgress())
    return reading, list(reading.items)


def _code(call):
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value.code


def _was_read(source, reading):
    source.last_revision = reading.state
    source.save()
    source.imports.create(status=ImportStatus.DONE)


@pytest.mark.parametrize("location", ["http://[", "https://[x]/a.git", "s3://[", "gs://[x]/", "x://["])
@pytest.mark.parametrize("reader", [address, git, mcp])
def test_an_invalid_address_is_refused(reader, location):
    assert _code(lambda: reader.check(location, {}, ANONYMOUS)) in ("OUTBOUND_ADDRESS", "SOURCE_ADDRESS")


def test_provenance_has_no_query_and_takes_any_text():
    urls = {"a": "https://a.example/x?key=secret#part", "b": "x://[?y", "c": "name#1"}
    assert provenance(**urls) == {"a": "https://a.example/x", "b": "x://[", "c": "name#1"}


@pytest.mark.parametrize("pack", [_zip, _tar])
def test_an_archive_of_many_skills_is_read(server, source, tmp_path, pack):
    server.responders["/a/skills"] = lambda h: h.send(200, pack(FILES))
    reading, found = _read(source(f"{server.url}/a/skills?token=secret"), tmp_path)
    assert {each.name for each in found if isinstance(each, SkillCandidate)} == {"one", "two"}
    assert reading.state.startswith("sha256:")
    assert found[0].provenance["url"] == f"{server.url}/a/skills"


def test_a_lone_skill_md_is_named_by_its_folder(server, source, tmp_path):
    server.responders["/skills/my-one/SKILL.md"] = lambda h: h.send(200, b"Just text.")
    _, (found,) = _read(source(f"{server.url}/skills/my-one/SKILL.md"), tmp_path)
    assert (found.name, found.read()[0].data) == ("my-one", b"Just text.")


def test_what_did_not_change_is_not_sent_again(server, source, tmp_path):
    def answer(handler):
        same = handler.headers.get("if-none-match") == '"1"'
        handler.send(304 if same else 200, b"" if same else _zip(FILES), ETag='"1"')

    server.responders["/a.zip"] = answer
    made = source(f"{server.url}/a.zip")
    reading, _ = _read(made, tmp_path)
    assert (reading.state, reading.is_unchanged) == ('"1"', False)
    _was_read(made, reading)
    again, found = _read(made, tmp_path)
    assert (again.is_unchanged, found) == (True, [])
    made.imports.get().rows.create(path="x", outcome="refused")
    assert not _read(made, tmp_path)[0].is_unchanged  # what was refused is tried again


def test_a_page_is_no_skill(server, source, tmp_path):
    server.responders["/page"] = lambda h: h.send(200, b"<!doctype html>")
    assert _code(lambda: _read(source(f"{server.url}/page"), tmp_path)) == "SOURCE_CONTENT"
    assert _code(lambda: _read(source(f"{server.url}/gone"), tmp_path)) == "OUTBOUND_STATUS"
    assert _code(lambda: source("https://me:secret@example.org/a.zip")) == "OUTBOUND_ADDRESS"
    assert _code(lambda: source("s3:///key")) == "SOURCE_ADDRESS"
    assert _code(lambda: source("s3://key:secret@bucket/")) == "SOURCE_ADDRESS"


@pytest.fixture
def shelf(moto, settings):
    moto.create_bucket(Bucket="shelf")
    for path, data in FILES.items():
        moto.put_object(Bucket="shelf", Key=f"tree of/{path}", Body=data)
    moto.put_object(Bucket="shelf", Key="tree of/../evil", Body=b"x")
    moto.put_object(Bucket="shelf", Key="all.zip", Body=_zip(FILES))
    settings.SKILLQUAY_OUTBOUND_ALLOW = [moto.endpoint.removeprefix("http://")]
    settings.SKILLQUAY_SOURCES = {"shelf": {**KEYS, "endpoint": moto.endpoint}}
    return moto


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_prefix_is_a_folder_of_skills(shelf, source, tmp_path, scheme):
    made = source(f"{scheme}://shelf/tree%20of/", credentials="shelf")
    reading, found = _read(made, tmp_path)
    assert {each.name for each in found if isinstance(each, SkillCandidate)} == {"one", "two"}
    assert [each.reason.code for each in found if isinstance(each, SkippedPath)] == ["SOURCE_NAME"]
    _was_read(made, reading)
    assert _read(made, tmp_path)[0].is_unchanged


def test_a_key_is_one_object_and_cheap_when_unchanged(shelf, source, tmp_path):
    made = source("s3://shelf/all.zip", credentials="shelf")
    reading, found = _read(made, tmp_path)
    assert {each.name for each in found} == {"one", "two"}
    _was_read(made, reading)
    assert _read(made, tmp_path)[0].is_unchanged


def test_a_long_listing_is_followed_page_by_page(shelf, source):
    made = source("s3://shelf/", credentials="shelf")
    bucket = Bucket.of(made.location, load_credentials(made))
    keys = [item.key for item in bucket.list_objects("", page_of=1)]
    assert keys == [item.key for item in bucket.list_objects("")]
    assert len(keys) == len(set(keys)) == 4


def test_buckets_never_see_the_hosts_credentials(shelf, source, tmp_path, monkeypatch, settings):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-hosts")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-hosts")
    settings.SKILLQUAY_SOURCES = {"shelf": {**KEYS, "endpoint": shelf.endpoint, "teams": "others"}}
    assert _code(lambda: _read(source("s3://shelf/all.zip", credentials="shelf"), tmp_path)) == (
        "SOURCE_CREDENTIALS"
    )


def test_an_empty_prefix_is_said(shelf, source, tmp_path):
    made = source("s3://shelf/nothing/", credentials="shelf")
    assert _code(lambda: _read(made, tmp_path)) == "SOURCE_EMPTY"
    made = source("s3://no-such-bucket/", credentials="shelf")
    assert _code(lambda: _read(made, tmp_path)) == "OUTBOUND_STATUS"
