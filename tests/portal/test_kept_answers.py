"""Kept answers are those that Django would give now: none is older, and none was made for others."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.test import Client
from django.utils import timezone

from registry.batched_writes import flush
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import (
    Canonical,
    Channel,
    Membership,
    Redirect,
    Role,
    Scope,
    Skill,
    Team,
    Token,
    Use,
    User,
    Version,
)
from tests.factories.skills import prompt_files, publish_files, tidy_files

pytestmark = pytest.mark.row("P9")
STEPS = int(os.environ.get("INTERLEAVINGS", "300"))
REPORT = "/api/v1/skills/docs/weekly-report"
REVIEW = "/api/v1/skills/docs/kind-review"


@pytest.fixture
def skills(team, alice, charlie):
    """A private skill of Docs with two versions, a public one, and one of another team."""
    publish_files(tidy_files("1.0.0"), team=team, user=alice)
    publish_files(tidy_files("1.1.0"), team=team, user=alice)
    publish_files(prompt_files(), team=team, user=alice, visibility="public")
    other = publish_files(prompt_files(), team=Team.objects.get(slug="elsewhere"), user=charlie)
    Skill.objects.filter(pk=other.skill_id).update(successor=Skill.objects.get(slug="weekly-report"))
    return {skill.slug if skill.team.slug == "docs" else "other": skill for skill in Skill.objects.all()}


def bearer(user, *, team=None, scopes=Scope.values):
    until = timezone.now() + timedelta(days=1)
    by = Actor(user=User.objects.filter(is_superuser=True).first() or user)
    found = tokens.issue(user, name="t", scopes=scopes, expires_at=until, by=by, team=team)
    return {"authorization": f"Bearer {found[1]}"}


def session(user):
    client = Client()
    client.force_login(user)
    return {"cookie": f"sessionid={client.cookies['sessionid'].value}"}


def changes(skills, team, dice):
    """What writers do, by name; each changes the answers that some clients get."""
    report, versions = skills["weekly-report"], Version.objects.filter(skill=skills["weekly-report"])
    first, second = versions.order_by("pk")
    now = timezone.now
    alice, bob = User.objects.get(username="alice"), User.objects.get(username="bob")

    def flip(rows, field, *values):
        return lambda: rows.update(**{field: values[rows.filter(**{field: values[0]}).exists()]})

    def bob_joins():
        if not Membership.objects.filter(user=bob, team=team).delete()[0]:
            Membership.objects.create(user=bob, team=team, role=Role.MEMBER)

    def pin():
        if not Canonical.objects.all().delete()[0]:
            chosen = dice.choice([first, second])
            Canonical.objects.create(
                slug="weekly-report", skill=report, version=chosen, number=chosen.number, digest=chosen.digest
            )

    def move_pin():
        row = Canonical.objects.first()
        if row:
            moved = first if row.version == second else second
            Canonical.objects.update(version=moved, number=moved.number, digest=moved.digest)

    def redirect():
        if not Redirect.objects.all().delete()[0]:
            Redirect.objects.create(team=team, slug="old-report", to=report)

    def channel():
        if not Channel.objects.all().delete()[0]:
            Channel.objects.create(skill=report, name="stable", version=dice.choice([first, second]))

    def sign_out():
        bob.sessions.all().delete()

    row = Skill.objects.filter(pk=report.pk)
    return {
        "hide": flip(row, "visibility", "private", "public"),
        "hide the other": flip(Skill.objects.filter(pk=skills["other"].pk), "visibility", "private", "site"),
        "rename": flip(row, "slug", "weekly-report", "monthly-report"),
        "move": flip(row, "team", team, Team.objects.get(slug="elsewhere")),
        "merge": flip(row, "merged_into", None, skills["kind-review"]),
        "deprecate": flip(row, "deprecated_at", None, now()),
        "purge": flip(row, "purged_at", None, now()),
        "yank": flip(Version.objects.filter(pk=second.pk), "yanked_at", None, now()),
        "hold": flip(Version.objects.filter(pk=first.pk), "held_at", None, now()),
        "release latest": flip(row, "latest", first, second),
        "pin": pin,
        "move the canonical name": move_pin,
        "redirect": redirect,
        "channel": channel,
        "membership": bob_joins,
        "role": flip(Membership.objects.filter(user=alice), "role", Role.OWNER, Role.VIEWER),
        "revoke": flip(Token.objects.filter(owner=alice), "revoked_at", None, now()),
        "deactivate": flip(User.objects.filter(pk=bob.pk), "is_active", True, False),
        "username": flip(User.objects.filter(pk=alice.pk), "username", "alice", "alicia"),
        "team": flip(Team.objects.filter(pk=skills["other"].team_id), "slug", "elsewhere", "somewhere"),
        "archive": flip(Team.objects.filter(pk=team.pk), "archived_at", None, now()),
        "sign out": sign_out,
    }


_CACHE_HEADERS = ("cache-control", "etag", "vary")
CSRF_TOKEN = re.compile(rb'(?<=name="csrfmiddlewaretoken" value=")[A-Za-z0-9]{64}')
ADDRESSES = [
    "/api/v1/skills",
    *(f"{REPORT}{rest}" for rest in ("", "/versions", "/channels", "/versions/latest", "/versions/stable")),
    *(f"{REPORT}/versions/{rest}" for rest in ("1.0.0", "1.0.0/files", "1.1.0/archive", "1.0.0/archive")),
    f"{REPORT}/versions/latest/files/SKILL.md",
    REVIEW,
    "/api/v1/skills/docs/old-report",
    "/api/v1/skills/docs/monthly-report",
    "/api/v1/skills/docs/absent",
    "/api/v1/skills/elsewhere/kind-review",
    "/api/v1/skills/somewhere/kind-review",
    "/api/v1/skills/elsewhere/weekly-report",
    "/api/v1/skills/_canonical_/weekly-report",
    "/api/v1/skills/_canonical_/weekly-report/versions/latest",
    "/api/v1/canonical/weekly-report/text",
    "/skills/",
    "/skills/docs/weekly-report/",
    "/skills/docs/kind-review/",
]


def _difference(answer, expected):
    """What a kept answer has that Django's has not; compressed ones have a header of random length."""
    mine, theirs = (
        {k: v for k, v in each.headers.items() if k not in ("x-noise", "set-cookie")}
        for each in (answer, expected)
    )
    if expected.status == 304:  # a kept one has more headers of the full answer
        mine, theirs = ({name: each[name] for name in _CACHE_HEADERS} for each in (mine, theirs))
        mine["vary"], theirs["vary"] = (sorted(each["vary"].split(", ")) for each in (mine, theirs))
    bodies = [CSRF_TOKEN.sub(b"", each.body) for each in (answer, expected)]
    pairs = zip((answer.status, mine, bodies[0]), (expected.status, theirs, bodies[1]), strict=True)
    return [pair for pair in pairs if pair[0] != pair[1]]


def test_random_changes_and_reads_find_no_older_answer(
    processes, skills, team, alice, bob, charlie, administrator
):
    dice = random.Random(18)
    clients = [{}, bearer(alice), bearer(bob, scopes=["read"]), bearer(charlie), bearer(administrator)]
    clients += [bearer(alice, team=team, scopes=["read"]), session(bob)]
    processes.get(REPORT, process=None, **clients[-1])  # stores the session's client
    writes, etags, wrong, kept_answers = changes(skills, team, dice), {}, [], 0
    variants = [{}, {"accept_encoding": "gzip"}, {"accept_language": "zh-hans"}]
    reads = [(dice.choice(ADDRESSES), {**dice.choice(clients), **dice.choice(variants)}) for _ in range(6)]
    for step in range(STEPS // 3):
        change = dice.choice(sorted(writes))
        writes[change]()
        if step % 3 == 0:
            reads[dice.randrange(6)] = dice.choice(ADDRESSES), dice.choice(clients)
        for path, client in dice.sample(reads, 2):
            if dice.random() < 0.2 and path in etags:
                client = {**client, "if_none_match": etags[path]}
            before = processes.calls
            answer = processes.get(path, process=int(dice.random() < 0.2), **client)
            etags[path] = answer.headers.get("etag", etags.get(path, "*"))
            if processes.calls == before:  # a kept answer
                expected = processes.get(path, process=None, **client)
                kept_answers += 1
                wrong += [(change, path, client, *pair) for pair in _difference(answer, expected)]
    assert wrong == []
    assert kept_answers > STEPS / 20


def test_next_request_in_each_process_answers_by_the_new_state(
    processes, skills, team, alice, bob, charlie, administrator
):
    """Each change, and its undoing, after both processes kept the answers that it concerns. At least one of
    the two outdates one.
    """
    owner, member, other = bearer(alice), session(bob), bearer(charlie)
    latest, archive = f"{REPORT}/versions/latest", f"{REPORT}/versions/1.1.0/archive"
    pinned = "/api/v1/skills/_canonical_/weekly-report"
    probes = {
        "hide": (REPORT, {}),
        "hide the other": ("/api/v1/skills/elsewhere/kind-review", owner),
        "rename": ("/api/v1/skills/docs/monthly-report", owner),
        "move": ("/api/v1/skills/elsewhere/weekly-report", other),
        "merge": (REPORT, owner),
        "deprecate": (latest, owner),
        "purge": (archive, owner),
        "yank": (f"{REPORT}/versions", owner),
        "hold": (f"{REPORT}/versions/1.0.0/archive", owner),
        "release latest": (latest, owner),
        "pin": (pinned, owner),
        "move the canonical name": (f"{pinned}/versions/latest", owner),
        "redirect": ("/api/v1/skills/docs/old-report", owner),
        "channel": (f"{REPORT}/versions/stable", owner),
        "membership": (REPORT, member),
        "role": (REPORT, owner),
        "revoke": (REPORT, owner),
        "deactivate": (REPORT, member),
        "username": (latest, owner),
        "team": ("/api/v1/skills/somewhere/kind-review", other),
        "archive": (REPORT, owner),
        "sign out": (REPORT, member),
        "successor": ("/api/v1/skills/elsewhere/kind-review", other),
        "list": ("/api/v1/skills", {}),
        "new skill": ("/api/v1/skills/docs/absent", {}),
    }
    writes = changes(skills, team, random.Random(1))
    writes["successor"] = writes["list"] = writes["hide"]
    writes["new skill"] = lambda: Skill.objects.filter(slug__in=["kind-review", "absent"], team=team).update(
        slug="absent"
    )
    processes.get(REPORT, process=None, **member)  # stores the session's client
    needed = {"pin": ["hide"], "move the canonical name": ["hide", "pin"]}  # "hide" makes it public
    for name in ("sign out", *(each for each in probes if each != "sign out"))[::-1]:
        path, client = probes[name]
        for each in needed.get(name, ()):
            writes[each]()
        found = [_change_and_read(processes, writes[name], path, client) for _ in range(2)]
        assert [wrong for _, wrong in found] == [[], []], (name, path)
        assert any(was_outdated for was_outdated, _ in found), (name, path)
        for each in needed.get(name, ()):  # undoes it
            writes[each]()


def _change_and_read(processes, change, path, client):
    """Whether the change outdates an answer that both processes kept, or the client's access; and how their
    next answers differ from Django's.
    """
    kept = [_is_kept(processes, process, path, client) for process in (0, 1)]
    before = processes.get(path, **client)
    change()
    expected = processes.get(path, process=None, **client)
    calls = processes.calls
    answers = [processes.get(path, process=process, **client) for process in (0, 1)]
    is_outdated = bool(_difference(before, expected)) or processes.calls == calls + 2
    wrong = [pair for answer in answers for pair in _difference(answer, expected)]
    return all(kept) and is_outdated, wrong


def _is_kept(processes, process, path, client):
    processes.get(path, process=process, **client)
    calls = processes.calls
    processes.get(path, process=process, **client)
    return processes.calls == calls


def test_renewed_answers_equal_those_of_requests(processes, skills, team, alice, bob, charlie, administrator):
    """Each address is read by clients with different access before and after changes, without a request if
    the access is unchanged.
    """
    clients = [bearer(bob, scopes=["read"]), session(charlie)]
    processes.get(REPORT, process=None, **clients[1])  # stores the session's client
    archive = f"{REPORT}/versions/1.1.0/archive"
    paths = ("/api/v1/skills", REPORT, f"{REPORT}/versions", f"{REPORT}/versions/latest", archive)
    writes, renewed = changes(skills, team, random.Random(18)), {}
    reads = [(path, client) for path in paths for client in clients]
    for name in ("hide", "deprecate", "channel", "pin", "yank", "hold", "release latest", "hide"):
        writes[name]()
        for path, client in reads:
            before = processes.calls
            answer = processes.get(path, **client)
            if processes.calls == before:
                renewed[path] = renewed.get(path, 0) + 1
                assert not _difference(answer, processes.get(path, process=None, **client)), (name, path)
    assert all(renewed.get(path, 0) > 6 for path in paths)


def test_renewed_answer_is_made_for_its_client(processes, skills, alice, bob):
    """Two clients with the same access share the answer, and a use counts for the one that caused it."""
    Membership.objects.filter(user=alice).update(role=Role.MEMBER)
    first, second = bearer(alice), bearer(bob)
    path = f"{REPORT}/versions/1.1.0/archive"
    for client in (first, second):
        processes.get(REPORT, **client)
    processes.get(path, **first)
    Skill.objects.filter(slug="weekly-report").update(description="Changed.")
    flush()
    Use.objects.all().delete()
    calls = processes.calls
    assert processes.get(path, **second).status == 200
    assert processes.calls == calls
    flush()
    assert set(Use.objects.values_list("caller", flat=True)) == {f"user:{bob.pk}"}


def test_uses_of_kept_answers_count_for_their_callers(processes, skills, alice, bob):
    path = f"{REPORT}/versions/1.1.0/archive"
    first, second = bearer(alice), bearer(bob)
    for client in (first, second, first):
        assert processes.get(path, **client).status == 200
    assert processes.calls == 2
    whole = processes.get(path, **second)
    part = processes.get(path, range="bytes=0-9", **second)
    assert (part.status, part.body) == (206, whole.body[:10])
    head = processes.get(path, method="HEAD", **second)
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(whole.body)))
    flush()
    assert set(Use.objects.values_list("caller", "count")) == {(f"user:{alice.pk}", 1), (f"user:{bob.pk}", 1)}
    etag = whole.headers["etag"]
    unchanged = processes.get(
        path, process=1, if_none_match=whole.headers["etag"], **bearer(alice, scopes=["read"])
    )
    assert (unchanged.status, unchanged.body) == (304, b"")
    Use.objects.all().delete()
    processes.get(path, if_none_match=etag, **first)
    flush()
    assert not Use.objects.exists()


def test_equal_lists_have_equal_etags_in_all_processes(processes, skills, alice, monkeypatch):
    """A list contains the position of its next page, which depends on the time."""
    moments = iter(range(5, 100))
    start = datetime.fromtimestamp(1_800_000_000, UTC)
    clock = SimpleNamespace(now=lambda: start + timedelta(seconds=next(moments)))
    monkeypatch.setattr("registry.versions.api.skills.timezone", clock)
    client, path = bearer(alice), "/api/v1/skills"
    first, second = (processes.get(path, process=n, query="limit=1", **client) for n in (0, 1))
    assert json.loads(first.body)["next_cursor"]
    assert first.headers["etag"] == second.headers["etag"]
    etag = first.headers["etag"]
    assert processes.get(path, process=1, query="limit=1", if_none_match=etag, **client).status == 304


def test_small_package_is_read_once(local_storage, processes, skills, alice, monkeypatch):
    client, path = bearer(alice), f"{REPORT}/versions/1.1.0/archive"
    whole = processes.get(path, **client)

    def refuse(digest):
        raise AssertionError("the file was read again")

    monkeypatch.setattr("registry.api.attachments.blobs.open_blob", refuse)
    assert _difference(processes.get(path, **client), whole) == []
    part = processes.get(path, range="bytes=5-9", **client)
    assert (part.status, part.body, part.headers["content-length"]) == (206, whole.body[5:10], "5")
    Skill.objects.filter(slug="weekly-report").update(description="Changed.")
    assert processes.get(path, **client).body == whole.body
    Version.objects.filter(number="1.1.0").delete()
    assert processes.get(path, **client).status == 404


def test_kept_answers_end_with_their_token_and_session(processes, skills, bob, monkeypatch):
    token, cookie = bearer(bob), session(bob)
    for client in (cookie, cookie, token):  # the first request of a session stores its client
        assert processes.get(REPORT, **client).status == 200
    calls = processes.calls
    assert processes.get(REPORT, **token).status == processes.get(REPORT, **cookie).status == 200
    assert processes.calls == calls
    now = time.time()
    clock = SimpleNamespace(time=lambda: now + 601, perf_counter=time.perf_counter)
    monkeypatch.setattr("portal.streaming.kept.middleware.time", clock)
    processes.get(REPORT, **cookie)  # Django stores the session's last use
    assert processes.calls == calls + 1
    processes.get(REPORT, **token)
    assert processes.calls == calls + 1
    flush()
    assert Token.objects.get().last_used_at is not None
    clock.time = lambda: now + 2 * 86_400
    processes.get(REPORT, **token)
    assert processes.calls == calls + 2


def test_404_is_kept_with_the_id_of_each_request(processes, skills, charlie):
    client = bearer(charlie)
    ids = ["NOT_FOUND", "another-request", "a" * 64]
    for uid in ids:
        answer = processes.get(REPORT, accept_encoding="gzip", x_request_id=uid, **client)
        coded = answer.headers.get("content-encoding") == "gzip"
        document = json.loads(gzip.decompress(answer.body) if coded else answer.body)
        assert (answer.status, answer.headers["x-request-id"], document["request_id"]) == (404, uid, uid)
        assert document["code"] == "NOT_FOUND"
        assert int(answer.headers["content-length"]) == len(answer.body)
    assert processes.calls == 1
