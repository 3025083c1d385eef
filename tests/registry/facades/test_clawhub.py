"""The ClawHub protocol: the answers that its clients read, and errors as plain text."""

from __future__ import annotations

import hashlib
import io
import zipfile

import pytest
from django.utils import timezone

from registry.canonical.pins import set_canonical
from registry.facades.clawhub.fingerprints import sort_key
from registry.models import Skill, Use, Visibility
from registry.versions.lifecycle.channels import set_channel
from registry.versions.lifecycle.yank import yank
from tests.factories.skills import publish_files, tidy_files
from tests.plans import plan_lines
from tests.registry.facades.conftest import HOST, get, show

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
API = "/clawhub/api/v1"
SKILL = f"{API}/skills/weekly-report"


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def fingerprint(files):
    lines = [f"{path}:{hashlib.sha256(files[path]).hexdigest()}" for path in sorted(files, key=sort_key)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_client_finds_the_protocol_and_its_own_name(alice, secret_of, settings):
    settings.SKILLQUAY_PUBLIC_URL = HOST
    for name in ("clawhub", "clawdhub"):
        document = get(f"/.well-known/{name}.json").json()
        assert document == {"apiBase": f"{HOST}/clawhub", "authBase": HOST}
    user = get(f"{API}/whoami", **bearer(secret_of(alice))).json()["user"]
    assert (user["handle"], user["role"]) == ("alice", "user")
    assert "SIGN_IN_REQUIRED" in get(f"{API}/whoami", status=401).content.decode()


def test_search_and_lists_have_the_fields_that_clients_require(report, prompt):
    (row,) = get(f"{API}/search?q=weekly-report&limit=25&mode=exact").json()["results"]
    assert (row["slug"], row["ownerHandle"], row["version"]) == ("weekly-report", "docs", "1.2.0")
    assert isinstance(row["score"], float)
    document = get(f"{API}/skills?limit=5&sort=createdAt").json()
    assert {item["slug"] for item in document["items"]} == {"weekly-report", "kind-review"}
    assert document["nextCursor"] is None
    (item,) = get(f"{API}/skills?prefix=week&limit=25").json()["items"]
    assert item["latestVersion"]["version"] == "1.2.0"
    assert item["updatedAt"] == int(report.skill.updated_at.timestamp() * 1000)
    first = get(f"{API}/skills?limit=1").json()
    second = get(f"{API}/skills?limit=1&cursor={first['nextCursor']}").json()
    assert first["items"][0]["slug"] != second["items"][0]["slug"]


def test_skill_has_channels_as_tags_versions_and_files(report, team, alice, actor_of):
    newer = publish_files(tidy_files("1.3.0"), team=team, user=alice)
    set_channel("stable", report, actor_of(alice))
    document = get(SKILL).json()
    assert document["skill"]["tags"] == {"latest": "1.3.0", "stable": "1.2.0"}
    assert (document["latestVersion"]["version"], document["owner"]["handle"]) == ("1.3.0", "docs")
    assert document["moderation"] is None
    first = get(f"{SKILL}/versions?limit=1").json()
    second = get(f"{SKILL}/versions?limit=1&cursor={first['nextCursor']}").json()
    assert [page["items"][0]["version"] for page in (first, second)] == ["1.3.0", "1.2.0"]
    detail = get(f"{SKILL}/versions/1.2.0?ownerHandle=docs").json()
    listed = {file["path"]: file["sha256"] for file in detail["version"]["files"]}
    assert listed == {path: hashlib.sha256(data).hexdigest() for path, data in tidy_files().items()}
    text = get(f"{SKILL}/file?path=scripts%2Freport.py&tag=stable").getvalue()
    assert text == tidy_files()["scripts/report.py"]
    yank(newer, actor_of(alice), reason="Wrong figures.")
    assert [row["version"] for row in get(f"{SKILL}/versions").json()["items"]] == ["1.2.0"]


def test_tags_omit_a_channel_whose_version_was_held_later(report, team, alice, actor_of):
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    set_channel("stable", report, actor_of(alice))
    report.held_at = timezone.now()
    report.save()
    assert get(SKILL).json()["skill"]["tags"] == {"latest": "1.3.0"}


def test_download_has_the_files_at_its_root_and_counts_as_an_install(report):
    get(SKILL)
    assert not Use.objects.exists()
    answer = get(f"{API}/download?slug=weekly-report&ownerHandle=docs&version=1.2.0")
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == tidy_files()
    assert Use.objects.get().last_kind == "install"
    get(f"{API}/download?slug=weekly-report", status=304, **{"If-None-Match": answer["ETag"]})


def test_fingerprints_of_both_generations_name_the_version(report, team, alice):
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    everything = tidy_files()
    texts = {path: data for path, data in everything.items() if not path.endswith(".png")}
    for files, match in ((everything, {"version": "1.2.0"}), (texts, {"version": "1.2.0"}), ({}, None)):
        found = get(f"{API}/resolve?slug=weekly-report&hash={fingerprint(files)}").json()
        assert found == {"match": match, "latestVersion": {"version": "1.3.0"}}


def test_paths_sort_as_in_javascript():
    expected = ["_x", "-x", "(x)", "a b", "a/b", "a1", "ab", "aB", "Ab", "AB", "abc", "e", "é", "f", "数"]
    assert sorted(set(expected), key=sort_key) == expected


def test_bare_slug_means_the_canonical_skill_in_its_pinned_version(report, team, alice, root):
    set_canonical("weekly-report", report, root, reason="Best one.")
    publish_files(tidy_files("1.3.0"), team=team, user=alice)
    document = get(SKILL).json()
    assert (document["owner"]["handle"], document["latestVersion"]["version"]) == ("canonical", "1.2.0")
    assert [row["version"] for row in get(f"{SKILL}/versions").json()["items"]] == ["1.2.0"]
    own = get(f"{SKILL}?ownerHandle=docs").json()
    assert (own["owner"]["handle"], own["latestVersion"]["version"]) == ("docs", "1.3.0")
    get(f"{API}/download?slug=weekly-report&ownerHandle=canonical&version=1.3.0", status=404)


def test_held_skill_is_suspicious_and_has_nothing_to_install(report, alice, secret_of):
    install = get(f"{SKILL}/install").json()
    assert install["archive"]["version"] == "1.2.0"
    assert install["archive"]["downloadUrl"].endswith("slug=weekly-report&ownerHandle=docs&version=1.2.0")
    type(report).objects.filter(pk=report.pk).update(held_at=timezone.now())
    type(report.skill).objects.filter(pk=report.skill.pk).update(latest=None)
    member = bearer(secret_of(alice))
    document = get(SKILL, **member).json()
    assert (document["latestVersion"], document["moderation"]["isSuspicious"]) == (None, True)
    failure = get(f"{SKILL}/install", status=409, **member).json()
    assert (failure["ok"], failure["reason"], failure["status"]) == (False, "archive_version_missing", 409)
    assert "VERSION_HELD" in get(f"{SKILL}/versions/1.2.0", status=409, **member).content.decode()
    get(SKILL, status=404)


@pytest.mark.row("P2")
def test_stranger_learns_nothing_of_a_private_skill(report, alice, charlie, secret_of):
    show(report, Visibility.PRIVATE)
    paths = [
        SKILL,
        f"{SKILL}?ownerHandle=docs",
        f"{SKILL}/versions",
        f"{SKILL}/versions/1.2.0",
        f"{SKILL}/file?path=SKILL.md",
        f"{SKILL}/install",
        f"{API}/download?slug=weekly-report&ownerHandle=docs&version=1.2.0",
        f"{API}/resolve?slug=weekly-report&hash={'0' * 64}",
    ]
    assert get(SKILL, status=404).content.startswith(b"Skill not found")  # which clients compare
    for headers in ({}, bearer(secret_of(charlie))):
        for path in paths:
            private = get(path, status=404, **headers).content.decode()
            absent = get(path.replace("weekly-report", "weekly-other"), status=404, **headers)
            assert private.replace("weekly-report", "weekly-other") == absent.content.decode()
        assert get(f"{API}/search?q=weekly+report", **headers).json()["results"] == []
        assert get(f"{API}/skills", **headers).json()["items"] == []
    member = bearer(secret_of(alice))
    for path in paths:
        assert get(path, **member).getvalue()


def test_session_is_ignored(report, alice, client):
    show(report, Visibility.PRIVATE)
    client.force_login(alice)
    get(SKILL, client=client, status=404)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/resolve?slug=weekly-report&hash=xyz", 400, "QUERY_INVALID"),
        ("/resolve", 400, "QUERY_INVALID"),
        ("/download?slug=weekly-report&slug=other", 400, "QUERY_INVALID"),
        ("/skills?limit=many", 400, "QUERY_INVALID"),
        ("/skills?cursor=e30", 400, "CURSOR_INVALID"),
        ("/skills/weekly-report/versions?cursor=x", 400, "CURSOR_INVALID"),
        ("/skills/weekly-report/file?path=none", 404, "NOT_FOUND"),
        ("/skills/weekly-report/versions/9.9.9", 404, "NOT_FOUND"),
        ("/skills/%00", 404, "PATH_UNKNOWN"),
        ("/packages", 404, "PATH_UNKNOWN"),
    ],
)
def test_wrong_request_gets_its_error_as_text(report, path, status, code):
    answer = get(f"{API}{path}", status=status)
    assert answer["Content-Type"].startswith("text/plain")
    assert f"({code})" in answer.content.decode()


@pytest.mark.parametrize("sort", ["updated", "createdAt", "downloads"])
def test_lists_are_read_in_the_order_of_an_index(report, prompt, sort):
    path = f"{API}/skills?sort={sort}"
    assert len(get(path).json()["items"]) == 2
    assert not [line for line in plan_lines(lambda: get(path)) if "ORDER BY" in line]


def test_list_has_the_newest_update_first(report, prompt):
    slugs = ["weekly-report", "kind-review"]
    for slug in slugs:
        Skill.objects.filter(slug=slug).update(updated_at=timezone.now())
    assert [item["slug"] for item in get(f"{API}/skills").json()["items"]] == slugs[::-1]
