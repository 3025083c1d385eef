"""The git protocol: references, packs, marketplaces, and answers to broken requests."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import re

import pytest
from django.test import Client
from dulwich.object_format import SHA1
from dulwich.objects import Commit, Tree
from dulwich.pack import PackData, PackInflater

from registry.canonical.pins import set_canonical
from registry.facades.git import history, kept, marketplace
from registry.identity.teams import create_team
from registry.models import Skill, Use, Visibility
from registry.versions.lifecycle.yank import yank
from tests.factories.skills import prompt_files, publish_files, tidy_files
from tests.registry.facades.conftest import get, show

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
SKILL = "/docs/weekly-report.git"
REQUEST = "application/x-git-upload-pack-request"


def refs(address=SKILL, **more):
    """The references, by name."""
    data = get(f"{address}/info/refs?service=git-upload-pack", **more).getvalue()
    found = re.findall(rb"([0-9a-f]{40}) ([A-Za-z/0-9.-]+)", data)
    return {name.decode(): sha.decode() for sha, name in found if b"symref" not in name}


def post(address, body, *, status=200, service="git-upload-pack", **headers):
    answer = Client().post(f"{address}/{service}", body, content_type=REQUEST, headers=headers)
    assert answer.status_code == status, answer.getvalue()
    return answer.getvalue()


def line(text):
    return f"{len(text) + 4:04x}{text}".encode()


def clone_body(*shas, extra=b""):
    first, *more = shas
    return (
        line(f"want {first} side-band-64k ofs-delta no-progress\n")
        + b"".join(line(f"want {sha}\n") for sha in more)
        + extra
        + b"0000"
        + line("done\n")
    )


def objects(data):
    """The objects of the pack in an answer, by id."""
    pack, at = b"", 0
    while at < len(data):
        size = int(data[at : at + 4], 16)
        if size and data[at + 4 : at + 5] == b"\1":
            pack += data[at + 5 : at + size]
        at += max(size, 4)
    with PackData.from_file(io.BytesIO(pack), object_format=SHA1, size=len(pack)) as opened:
        return {item.id.decode(): item for item in PackInflater.for_pack_data(opened)}


def cloned(address=SKILL, **headers):
    main = refs(address, **headers)["refs/heads/main"]
    return main, objects(post(address, clone_body(main), **headers))


def files(found, tree, prefix=""):
    rows = {}
    for entry in found[tree.decode()].items():
        path, item = prefix + entry.path.decode(), found[entry.sha.decode()]
        rows |= files(found, entry.sha, f"{path}/") if isinstance(item, Tree) else {path: item.data}
    return rows


def log(found, sha):
    rows = []
    while sha:
        commit = found[sha]
        rows.append(commit)
        sha = commit.parents[0].decode() if commit.parents else ""
    return rows


def test_versions_are_commits_with_tags_and_main_is_the_latest(report, team, alice):
    before = refs()
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    found = refs()
    assert set(found) == {"HEAD", "refs/heads/main", "refs/tags/v1.2.0", "refs/tags/v1.3.0"}
    assert found["refs/heads/main"] == found["HEAD"] == found["refs/tags/v1.3.0"]
    assert found["refs/tags/v1.2.0"] == before["refs/heads/main"]
    main, pack = cloned()
    assert files(pack, pack[main].tree) == tidy_files("1.3.0")
    commits = log(pack, main)
    assert [commit.id.decode() for commit in commits] == [main, found["refs/tags/v1.2.0"]]
    assert newer.digest in commits[0].message.decode()
    assert commits[0].commit_time == int(newer.created_at.timestamp())
    kept.forget()
    assert refs() == found


def test_fetch_sends_only_new_objects_and_shallow_one_commit(report, team, alice):
    old, first = cloned()
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    new = refs()["refs/heads/main"]
    body = line(f"want {new} side-band-64k ofs-delta\n") + b"0000" + line(f"have {old}\n") + line("done\n")
    zipped = post(SKILL, gzip.compress(body), **{"Content-Encoding": "gzip"})
    assert zipped == post(SKILL, body)
    assert not set(objects(zipped)) & set(first)
    shallow = post(SKILL, clone_body(new, extra=line("deepen 1\n")))
    assert f"shallow {new}".encode() in shallow
    assert [sha for sha, item in objects(shallow).items() if isinstance(item, Commit)] == [new]


def test_backport_and_yank_never_change_earlier_commits(report, team, alice, actor_of):
    newer = publish_files(tidy_files("2.0.0"), team=team, user=alice)
    before = refs()
    publish_files(tidy_files("1.2.1"), team=team, user=alice)
    found = refs()
    assert found["refs/heads/main"] == before["refs/heads/main"]
    yank(newer, actor_of(alice), reason="Wrong figures.")
    after = refs()
    assert "refs/tags/v2.0.0" not in after
    assert after["refs/heads/main"] == found["refs/tags/v1.2.1"]


def test_canonical_skill_has_an_address_without_a_team(report, team, alice, root):
    set_canonical("weekly-report", report, root, reason="Best one.")
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    found = refs("/canonical/weekly-report.git")
    assert found["refs/heads/main"] == refs()["refs/tags/v1.2.0"]
    assert "refs/tags/v1.3.0" not in found


def test_history_of_large_packages_starts_later(report, team, alice, monkeypatch):
    monkeypatch.setattr(history, "SEGMENT_BYTES", report.archive_size)
    for minor in range(3, 7):
        publish_files(tidy_files(f"1.{minor}.0"), team=team, user=alice)
    found = refs()
    assert found["refs/heads/main"] == found["refs/tags/v1.6.0"]
    assert "refs/tags/v1.2.0" not in found
    assert len(log(cloned()[1], found["HEAD"])) == 2


@pytest.mark.row("P2")
def test_private_repository_answers_strangers_as_a_missing_one(report, alice, charlie, secret_of):
    show(report, Visibility.PRIVATE)
    query = "/info/refs?service=git-upload-pack"
    others = {"Authorization": f"Bearer {secret_of(charlie)}"}
    for headers, status in (({}, 401), (others, 404)):
        hidden = get(SKILL + query, status=status, **headers)
        missing = get(f"/docs/weekly-nothing.git{query}", status=status, **headers)
        assert hidden.getvalue().replace(b"report", b"nothing") == missing.getvalue()
        assert hidden.get("WWW-Authenticate") == missing.get("WWW-Authenticate")
        assert hidden["Content-Type"].startswith("text/plain")
    assert get(SKILL + query, status=401)["WWW-Authenticate"].startswith("Basic ")
    session = Client()
    session.force_login(alice)
    get(SKILL + query, client=session, status=401)
    basic = base64.b64encode(f"x:{secret_of(alice)}".encode()).decode()
    main, _ = cloned(Authorization=f"Basic {basic}")
    post(SKILL, clone_body(main), status=401)
    post(SKILL, clone_body(main), status=404, **others)
    assert refs("/all.git", **others).keys() == refs("/all.git").keys()
    _, pack = cloned("/all.git", **others)
    assert not any(b"weekly" in item.as_raw_string() for item in pack.values())
    assert get("/marketplace.json", **others).json()["plugins"] == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"0",
        b"zzzz",
        b"0000",
        b"0009done\n",
        b"ffffwant",
        line("want " + "0" * 40 + "\n") + b"0000",
        line("want main\n") + b"0000",
        b"\x1f\x8b broken",
    ],
)
def test_malformed_body_is_answered_by_the_protocol_or_refused(report, body):
    answer = Client().post(f"{SKILL}/git-upload-pack", body, content_type=REQUEST)
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:
        assert b"GIT_REQUEST_INVALID" in answer.getvalue()


def test_mutated_and_truncated_bodies_never_break_the_server(report):
    seeded = random.Random(20)
    main = refs()["refs/heads/main"]
    valid = clone_body(main, extra=line("deepen 1\n"))
    for _ in range(60):
        data = bytearray(valid)
        for _ in range(seeded.randint(1, 4)):
            data[seeded.randrange(len(data))] = seeded.randrange(256)
        cut = seeded.randint(0, len(data))
        answer = Client().post(f"{SKILL}/git-upload-pack", bytes(data[:cut]), content_type=REQUEST)
        assert answer.status_code in (200, 400)


def test_too_large_and_wrong_requests_are_refused(report):
    bomb = gzip.compress(b"0" * (2 << 20))
    post(SKILL, bomb, status=413, **{"Content-Encoding": "gzip"})
    assert b"GIT_REQUEST_INVALID" in post(SKILL, b"no", status=400, **{"Content-Encoding": "gzip"})
    assert b"GIT_REQUEST_INVALID" in post(SKILL, line("want x\n") * 257, status=400)
    post(SKILL, b"", status=415, **{"Content-Encoding": "br"})
    assert b"GIT_READ_ONLY" in post(SKILL, b"", status=403, service="git-receive-pack")
    assert b"GIT_READ_ONLY" in get(f"{SKILL}/info/refs", status=403).getvalue()
    get(f"{SKILL}/info/refs?service=git-receive-pack", status=403)


def test_builds_wait_for_each_other_only_for_a_time(report, monkeypatch):
    kept.forget()
    monkeypatch.setattr(kept, "WAIT_S", 0.01)
    with kept._building:
        answer = get(f"{SKILL}/info/refs?service=git-upload-pack", status=503)
    assert b"GIT_BUSY" in answer.getvalue()
    assert answer["Retry-After"]
    refs()


def test_clone_counts_as_an_install_and_reading_references_does_not(report):
    main = refs()["refs/heads/main"]
    assert Use.objects.count() == 0
    post(SKILL, clone_body(main))
    assert Use.objects.get().last_kind == "install"


def test_marketplace_repository_contains_each_skill_as_a_plugin(report, prompt, team, alice, secret_of):
    main, pack = cloned("/all.git")
    rows = files(pack, pack[main].tree)
    market = json.loads(rows[".claude-plugin/marketplace.json"])
    codex = json.loads(rows[".agents/plugins/marketplace.json"])
    assert [each["name"] for each in market["plugins"]] == ["weekly-report", "kind-review"]
    assert market["plugins"][0]["source"] == codex["plugins"][0]["source"]["path"]
    assert market["plugins"][0]["version"] == "1.2.0"
    assert market["plugins"][0]["description"] == report.skill.description
    folder = market["plugins"][0]["source"].removeprefix("./")
    assert json.loads(rows[f"{folder}/.claude-plugin/plugin.json"])["version"] == "1.2.0"
    assert rows[f"{folder}/skills/weekly-report/SKILL.md"] == tidy_files()["SKILL.md"]
    assert json.loads(rows[f"{folder}/.codex-plugin/plugin.json"])["skills"] == "./skills/"

    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    newer, pack = cloned("/docs/all.git")
    assert len(log(pack, newer)) == 3
    newer, pack = cloned("/all.git")
    assert main in [commit.id.decode() for commit in log(pack, newer)]
    get("/all.private.git/info/refs?service=git-upload-pack", status=401)
    secret = {"Authorization": f"Bearer {secret_of(alice)}"}
    assert refs("/docs/all.private.git", **secret) == refs("/docs/all.git", **secret)
    get("/nobody/all.git/info/refs?service=git-upload-pack", status=401)


def test_marketplace_history_is_bounded_and_follows_yanks(report, prompt, team, alice, actor_of, monkeypatch):
    monkeypatch.setattr(marketplace, "_MAX_STEP", 2)
    for minor in range(3, 7):
        newest = publish_files(tidy_files(f"1.{minor}.0"), team=team, user=alice)
    before, _ = cloned("/all.git")
    yank(newest, actor_of(alice), reason="Wrong figures.")
    main, pack = cloned("/all.git")
    commits = log(pack, main)
    assert 2 <= len(commits) <= 5
    assert before in [commit.id.decode() for commit in commits]
    market = json.loads(files(pack, pack[main].tree)[".claude-plugin/marketplace.json"])
    assert market["plugins"][0]["version"] == "1.5.0"


def test_marketplace_by_address_names_repositories_of_plugins(report, alice, root, settings):
    settings.SKILLQUAY_PUBLIC_URL = "http://127.0.0.1:8000"
    (row,) = get("/docs/marketplace.json").json()["plugins"]
    assert row["source"]["url"].endswith("/docs/weekly-report.plugin.git")
    address = row["source"]["url"].removeprefix("http://127.0.0.1:8000")
    main, pack = cloned(address)
    assert "skills/weekly-report/SKILL.md" in files(pack, pack[main].tree)
    set_canonical("weekly-report", report, root, reason="Best one.")
    (row,) = get("/marketplace.json").json()["plugins"]
    assert (row["name"], row["version"]) == ("weekly-report", "1.2.0")
    assert row["source"]["url"].endswith("/canonical/weekly-report.plugin.git")
    refs(row["source"]["url"].removeprefix("http://127.0.0.1:8000"))


def test_second_skill_with_a_slug_gets_its_team_in_the_name(report, bob, actor_of):
    other = create_team("other", "Other", actor_of(bob))
    show(publish_files(prompt_files(), team=other, user=bob))
    Skill.objects.filter(team=other).update(slug="weekly-report")
    names = [row["name"] for row in get("/marketplace.json").json()["plugins"]]
    assert names == ["weekly-report", "other-weekly-report"]
