"""The pack of a clone is a kept answer: for the same request, access and history."""

from __future__ import annotations

import gzip

import pytest

from portal.health.http_metrics import count_request
from portal.streaming.kept.clones import ClonePacks
from portal.streaming.kept.middleware import KeptAnswers
from registry.batched_writes import flush
from registry.facades.git import kept
from registry.models import Skill, Use
from tests.factories.skills import publish_files, tidy_files
from tests.portal.test_kept_answers import bearer
from tests.portal.test_kept_facades import as_basic

pytestmark = [pytest.mark.row("P7"), pytest.mark.row("P9")]
PACK, REFERENCES = "/docs/weekly-report.git/git-upload-pack", "/docs/weekly-report.git/info/refs"


@pytest.fixture
def fetch(processes):
    """``fetch(body, **headers)``: the answer to a request for a pack."""
    packs = KeptAnswers(processes.django, processes.bridge.run, count_request)
    processes.fronts.append(packs)  # closes its connection, too
    front = ClonePacks(processes.django, packs)

    def run(body, **headers):
        return processes.run(front, PACK, method="POST", body=body, **headers)

    return run


@pytest.fixture
def skill(team, alice):
    return publish_files(tidy_files("1.0.0"), team=team, user=alice).skill


def line(text):
    return f"{len(text) + 4:04x}{text}".encode()


def head(processes, client):
    """The commit of ``main``."""
    refs = processes.get(REFERENCES, process=None, query="service=git-upload-pack", **client)
    return refs.body.decode().split("HEAD")[0][-41:].strip()


def clone(commit, *, agent="git/2.47", depth="", have=""):
    wanted = line(f"want {commit} ofs-delta side-band-64k agent={agent}\n")
    return b"".join(
        (
            wanted,
            (depth and line(f"deepen {depth}")) or b"",
            b"0000",
            (have and line(f"have {have}\n")) or b"",
            line("done\n"),
        )
    )


def test_second_clone_is_answered_without_django_and_counts(processes, skill, fetch, alice, bob):
    one, other = as_basic(bearer(alice)), as_basic(bearer(bob))
    commit = head(processes, one)
    first = fetch(clone(commit), **one)
    assert (first.status, b"PACK" in first.body) == (200, True)
    fetch(clone(commit), **other)
    flush()
    Use.objects.all().delete()
    calls = processes.calls
    packed = {"content_encoding": "gzip"}
    for client, agent, more in ((one, "git/2.39", {}), (other, "JGit", {}), (one, "git/2.47", packed)):
        body = clone(commit, agent=agent)
        again = fetch(gzip.compress(body) if more else body, **client, **more)
        assert (again.status, again.body, again.headers) == (200, first.body, first.headers)
    assert processes.calls == calls
    flush()
    callers = set(Use.objects.values_list("caller", "count", "last_kind"))
    assert callers == {(f"user:{user.pk}", 1, "install") for user in (alice, bob)}


def test_other_requests_get_their_own_packs(processes, skill, fetch, team, alice):
    client = as_basic(bearer(alice))
    older = head(processes, client)
    publish_files(tidy_files("1.1.0"), team=team, user=alice)
    newer = head(processes, client)
    bodies = [clone(newer), clone(newer, depth="1"), clone(older), clone(newer, have=older), b"0000", b"x"]
    damaged = [gzip.compress(bodies[0])[:-9], b"\x1f\x8b", gzip.compress(bodies[0] + b" " * 70_000)]
    expected = [processes.run(processes.django, PACK, method="POST", body=each, **client) for each in bodies]
    assert len({answer.body for answer in expected}) == len(bodies)
    for _ in range(2):
        answers = [fetch(body, **client) for body in bodies]
        pairs = [(answer.status, answer.body) for answer in answers]
        assert pairs == [(answer.status, answer.body) for answer in expected]
        packed = [fetch(body, content_encoding="gzip", **client).status for body in damaged]
        assert packed == [400, 400, 200]


def test_body_that_hides_lines_in_a_capability_changes_no_other_clone(processes, skill, fetch, team, alice):
    client = as_basic(bearer(alice))
    older = head(processes, client)
    publish_files(tidy_files("1.1.0"), team=team, user=alice)
    newer = head(processes, client)
    both = line(f"want {older} ofs-delta agent=x\n") + line(f"want {newer}\n") + b"0000" + line("done\n")
    hiding = both.replace(b"agent=x\n", b"agent=xx00000009done\n")  # the second line is not read
    expected = processes.run(processes.django, PACK, method="POST", body=hiding, **client)
    assert (expected.status, b"PACK" in expected.body) == (200, True)
    kept.forget()
    fetch(hiding, **client)
    assert fetch(both, **client).body != expected.body
    kept.forget()
    assert fetch(hiding, **client).body == expected.body


def test_clone_follows_access_and_withdrawal(processes, skill, fetch, team, alice, charlie):
    owner, stranger = as_basic(bearer(alice)), as_basic(bearer(charlie))
    commit = head(processes, owner)
    assert fetch(clone(commit), **owner).status == 200
    assert fetch(clone(commit), **stranger).status == 404
    assert fetch(clone(commit)).status == 401
    rows = Skill.objects.filter(pk=skill.pk)
    rows.update(visibility="public")
    assert [fetch(clone(commit), **client).status for client in (stranger, {}, stranger, {})] == [200] * 4
    rows.update(visibility="private")
    assert [fetch(clone(commit), **client).status for client in (owner, stranger, {})] == [200, 404, 401]
    alice.memberships.all().delete()
    assert fetch(clone(commit), **owner).status == 404
