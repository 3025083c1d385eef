"""A git repository as a source, from git's own server."""

from __future__ import annotations

import struct
import zlib
from functools import partial

import pytest

from registry.identity.actors import ANONYMOUS
from registry.imports.candidates import ReadProgress, SkillCandidate, SkippedPath
from registry.imports.readers import git
from registry.models import ImportStatus, Source
from registry.packages.problems import Refusal
from tests.factories.repositories import GitRepository, git_http_backend
from tests.shell import api, refusal

pytestmark = [pytest.mark.row("P3", "D3"), pytest.mark.django_db]


def _skill(name, text="Say hello."):
    return f"---\nname: {name}\ndescription: What {name} does.\n---\n{text}\n"


@pytest.fixture
def repository(server, tmp_path):
    server.default_responder = git_http_backend(tmp_path / "served")
    return GitRepository(tmp_path / "served")


@pytest.fixture
def source(team, server, repository):
    def made(location="", **options):
        location, options = git.check(location or f"{server.url}/skills.git/.git", options, ANONYMOUS)
        return Source.objects.create(team=team, kind="git", location=location, options=options)

    return made


def _read(source, tmp_path, name="scratch"):
    scratch = tmp_path / name
    scratch.mkdir()
    reading = git.read(source, ANONYMOUS, scratch, ReadProgress())
    return reading, list(reading.items)


def _paths(found):
    return sorted(each.path for each in found if isinstance(each, SkillCandidate))


def _code(call):
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value.code


def test_the_default_branch_is_read_with_its_commit(source, repository, tmp_path):
    commit = repository.commit(
        {"skills/one/SKILL.md": _skill("one"), "skills/one/a.txt": "a", "two/SKILL.md": _skill("two")}
    )
    reading, found = _read(source(), tmp_path)
    assert reading.state == commit
    assert _paths(found) == ["skills/one", "two"]
    one = next(each for each in found if each.path == "skills/one")
    assert (one.source, one.version) == ("git", "")
    assert one.provenance["commit"] == commit
    assert one.provenance["repository"].endswith("/skills.git/.git")
    assert sorted(entry.path for entry in one.read()) == ["SKILL.md", "a.txt"]


def test_only_the_newest_commit_is_fetched(source, repository, tmp_path, server):
    for number in range(3):
        repository.commit({"skills/one/SKILL.md": _skill("one", f"Text {number}.")})
    _read(source(), tmp_path)
    asked = [request.body for request in server.requests if b"command=fetch" in request.body]
    assert len(asked) == 1
    assert b"deepen 1" in asked[0]
    assert {request.path.partition("?")[0] for request in server.requests} == {
        "/skills.git/.git/info/refs",
        "/skills.git/.git/git-upload-pack",
    }


def test_a_branch_and_a_path_narrow_it(source, repository, tmp_path):
    repository.commit({"skills/one/SKILL.md": _skill("one")})
    repository.git("checkout", "-q", "-b", "next")
    repository.commit({"deep/er/three/SKILL.md": _skill("three")})
    _, found = _read(source(branch="next", path="deep/er"), tmp_path)
    assert _paths(found) == ["three"]
    assert found[0].provenance["ref"] == "next"
    assert found[0].provenance["path"] == "deep/er"


def test_each_tag_that_is_a_version_is_one_lowest_first(source, repository, tmp_path):
    for number in ("v1.10.0", "v1.2.0", "nightly"):
        repository.commit({"skills/one/SKILL.md": _skill("one", number)}, tag=number)
    _, found = _read(source(tags=True), tmp_path)
    kept = [(each.path, each.version) for each in found if isinstance(each, SkillCandidate)]
    assert kept == [("v1.2.0/skills/one", "1.2.0"), ("v1.10.0/skills/one", "1.10.0")]
    assert b"v1.2.0" in found[0].read()[0].data


def test_links_stay_within_and_submodules_are_passed_by(source, repository, tmp_path):
    repository.commit({"real/one/SKILL.md": _skill("one")})
    (repository.folder / "skills").mkdir()
    (repository.folder / "skills" / "out").symlink_to("/etc")
    (repository.folder / "skills" / "in").symlink_to("../real/one")
    repository.git("update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",sub")
    repository.git("add", "skills")
    repository.git("commit", "-q", "-m", "links")
    _, found = _read(source(), tmp_path)
    assert _paths(found) == ["real/one"]
    passed = {each.path: each.reason.code for each in found if isinstance(each, SkippedPath)}
    assert passed["sub"] == "GIT_SUBMODULE"
    assert passed["skills/out"] == "IMPORT_OUTSIDE"


def test_an_unchanged_repository_is_not_fetched_again(source, repository, tmp_path, server, team):
    commit = repository.commit({"skills/one/SKILL.md": _skill("one")})
    made = source()
    made.last_revision = commit
    made.save()
    made.imports.create(status=ImportStatus.DONE)
    reading, found = _read(made, tmp_path)
    assert (reading.is_unchanged, found) == (True, [])
    assert not [request for request in server.requests if b"command=fetch" in request.body]
    later = repository.commit({"skills/one/SKILL.md": _skill("one", "Later.")})
    assert git.current_state(made) == later != made.last_revision


@pytest.mark.parametrize(
    "location",
    [
        "ssh://git@example.org/a.git",
        "git@example.org:a.git",
        "file:///srv/a.git",
        "git://example.org/a",
        "/srv/a",
    ],
)
def test_other_ways_to_a_repository_are_refused(location):
    assert _code(lambda: git.check(location, {}, ANONYMOUS)) == "SOURCE_ADDRESS"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"branch": 1}, "IMPORT_OPTION"),
        ({"depth": "9"}, "IMPORT_OPTION"),
        ({"tags": True, "branch": "main"}, "IMPORT_OPTION"),
        ({"path": "../x"}, "GIT_PATH"),
        ({"path": "a//b"}, "GIT_PATH"),
        ({"branch": "a\0b"}, "TEXT_INVALID"),
    ],
)
def test_options_are_checked(options, code):
    assert _code(lambda: git.check("https://example.org/a.git", options, ANONYMOUS)) == code


def test_what_is_not_there_is_said(source, repository, tmp_path, server):
    repository.commit({"skills/one/SKILL.md": _skill("one")})
    assert _code(lambda: _read(source(branch="nope"), tmp_path, "a")) == "GIT_REF"
    assert _code(lambda: _read(source(tags=True), tmp_path, "b")) == "GIT_REF"
    assert _code(lambda: _read(source(path="nope"), tmp_path, "c")) == "GIT_PATH"
    assert _code(lambda: _read(source(f"{server.url}/other.git"), tmp_path, "d")) == "GIT_REPOSITORY"
    server.responders["/page/info/refs"] = lambda h: h.send(200, b"<html>", content_type="text/html")
    assert _code(lambda: _read(source(f"{server.url}/page"), tmp_path, "e")) == "GIT_REPOSITORY"


def test_a_repository_that_is_larger_than_an_import_may_be_is_left(source, repository, tmp_path, settings):
    repository.commit({"skills/one/SKILL.md": _skill("one"), "big.txt": "x" * 300_000})
    settings.SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES = 100_000
    assert _code(lambda: _read(source(), tmp_path, "a")) == "SOURCE_TOO_LARGE"
    settings.SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES = 10_000_000
    settings.SKILLQUAY_MAX_IMPORT_ENTRIES = 1
    assert _code(lambda: _read(source(), tmp_path, "b")) == "SOURCE_TOO_LARGE"


def _packet(text):
    return b"%04x%s" % (len(text) + 4, text)


def _lying(server, pack):
    """A server of the old protocol that has one commit and sends these bytes as its pack."""
    head = b"1" * 40 + b" HEAD\0side-band-64k shallow ofs-delta\n"
    service = _packet(b"# service=git-upload-pack\n") + b"0000" + _packet(head) + b"0000"
    kind = "application/x-git-upload-pack-{}".format
    server.responders["/x/info/refs"] = lambda h: h.send(200, service, content_type=kind("advertisement"))
    body = _packet(b"shallow " + b"1" * 40) + b"0000" + _packet(b"NAK\n") + _packet(b"\1" + pack) + b"0000"
    server.responders["/x/git-upload-pack"] = lambda h: h.send(200, body, content_type=kind("result"))


def _size(kind, size):
    first = (kind << 4) | (size & 15)
    size >>= 4
    out = bytearray([first | (0x80 if size else 0)])
    while size:
        out.append((size & 0x7F) | (0x80 if size > 0x7F else 0))
        size >>= 7
    return bytes(out)


@pytest.mark.parametrize(
    ("pack", "code"),
    [
        (b"", "SOURCE_ANSWER"),
        (b"nonsense", "SOURCE_ANSWER"),
        (b"PACK" + struct.pack(">II", 2, 2**31) + b"\0" * 40, "SOURCE_TOO_LARGE"),
        (b"PACK" + struct.pack(">II", 2, 1) + _size(3, 2**40) + zlib.compress(b"\0" * 99) + b"\0" * 20, None),
        (b"PACK" + struct.pack(">II", 2, 1) + _size(3, 5) + zlib.compress(b"\0" * 9999) + b"\0" * 20, None),
        (  # a delta of few bytes that makes a terabyte
            b"PACK"
            + struct.pack(">II", 2, 1)
            + _size(7, 8)
            + b"1" * 20
            + zlib.compress(b"\x05\x80\x80\x80\x80\x80\x40\x00")
            + b"\0" * 20,
            "SOURCE_TOO_LARGE",
        ),
    ],
)
def test_a_pack_that_lies_is_refused(source, server, tmp_path, pack, code):
    _lying(server, pack)
    found = _code(lambda: _read(source(f"{server.url}/x"), tmp_path))
    assert found == (code or "SOURCE_ANSWER")


def test_names_that_are_no_paths_are_never_written(source, repository, tmp_path):
    repository.commit({"a/SKILL.md": _skill("a"), "evil": "x"})
    evil = repository.git("rev-parse", "HEAD:evil")
    tree = repository.git("rev-parse", "HEAD:a")
    rows = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(sha)
        for mode, name, sha in (
            (b"100644", b"..", evil),
            (b"100644", b".git", evil),
            (b"100644", b"../../evil", evil),
            (b"40000", b"a", tree),
        )
    )
    (tmp_path / "tree").write_bytes(rows)
    made = repository.git("hash-object", "-t", "tree", "-w", "--literally", str(tmp_path / "tree"))
    commit = repository.git("commit-tree", "-m", "evil", made)
    repository.git("update-ref", "refs/heads/evil", commit)
    _, found = _read(source(branch="evil"), tmp_path)
    assert _paths(found) == ["a"]
    assert [each.reason.code for each in found if isinstance(each, SkippedPath)] == ["SOURCE_NAME"] * 3


def test_credentials_are_a_teams_own_and_go_to_their_place_alone(
    source, repository, tmp_path, server, settings
):
    repository.commit({"skills/one/SKILL.md": _skill("one")})
    named = {"endpoint": server.url, "token": "secret", "teams": "docs"}
    settings.SKILLQUAY_SOURCES = {"forge": named}
    _read(source(credentials="FORGE"), tmp_path, "a")
    assert server.requests[-1].headers["authorization"] == "Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0"
    (tmp_path / "b").mkdir()
    for change in ({"teams": "others"}, {"endpoint": "https://example.org"}, {"teams": ""}):
        settings.SKILLQUAY_SOURCES = {"forge": named | change}
        made = source(credentials="forge")
        assert (
            _code(partial(git.read, made, ANONYMOUS, tmp_path / "b", ReadProgress())) == "SOURCE_CREDENTIALS"
        )
    unknown = source(credentials="none")
    assert (
        _code(partial(git.read, unknown, ANONYMOUS, tmp_path / "b", ReadProgress())) == "SOURCE_CREDENTIALS"
    )


def test_shell_lists_checks_and_removes_sources(source, repository, team, charlie):
    commit = repository.commit({"skills/one/SKILL.md": _skill("one")})
    kept = source()
    kept.last_revision = commit
    kept.save()
    [row] = api("GET", "sources")[1]["items"]
    assert (row["id"], row["kind"]) == (kept.uid, "git")
    assert api("GET", f"sources/{kept.uid}/drift")[1]["has_changes"] is False
    repository.commit({"skills/one/SKILL.md": _skill("one", "More.")})
    assert api("GET", f"sources/{kept.uid}/drift")[1]["has_changes"] is True
    assert api("GET", "sources", by="charlie")[1]["items"] == []
    assert refusal("DELETE", f"sources/{kept.uid}", by="charlie") == "NOT_FOUND"
    assert api("DELETE", f"sources/{kept.uid}")[0] == 0
    assert api("GET", "sources")[1]["items"] == []
