"""The keys of kept answers and of clients' access, and the memory limit of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from portal.streaming.kept import answers as kept
from portal.streaming.kept.access import access_key
from portal.streaming.kept.answers import Answer, AnswerStore
from portal.streaming.kept.request import BODY_DIGEST, read_request
from portal.streaming.kept.whole_responses import Head
from registry.changes.numbers import ChangeLog
from registry.identity.actors import ANONYMOUS, Actor
from registry.models import Membership, Role, Token, User, UserKind

pytestmark = pytest.mark.row("P9")
REPORT = "/api/v1/skills/docs/weekly-report"
REVIEW = "/api/v1/skills/docs/kind-review"


def _key(**changed):
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": REPORT, "query_string": b""}
    headers = {"host": "a", "x-request-id": "b", **changed.pop("headers", {})}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    found = read_request({**scope, **changed, "headers": pairs + changed.pop("repeated", [])})
    return found and (found.key, found.credential)


PARTS: list[dict[str, Any]] = [
    {"path": REVIEW},
    {"query_string": b"limit=1"},
    {"headers": {"host": "b"}},
    {"headers": {"accept": "application/octet-stream"}},
    {"scheme": "https"},
    {"root_path": "/prefix"},
    {"headers": {"accept-language": "zh-hans"}},
]
FACADE_PARTS = [
    *({**part, "path": part.get("path", "/npm/@a/b").replace("/api/v1/skills", "/npm/@a")} for part in PARTS),
    {"path": "/npm/@a/b", "headers": {"x-skills-update-check": "1"}},
    {"path": "/npm/@a/b", "headers": {"authorization": "Link x"}},
    {"path": "/npm/@a/b", BODY_DIGEST: b"x"},
]


@pytest.mark.parametrize(("path", "parts"), [(REPORT, PARTS), ("/npm/@a/b", FACADE_PARTS)])
def test_each_part_of_a_request_changes_one_part_of_its_key(path, parts):
    """Together, they change all parts, so that no part of the key is without a test."""
    plain, _ = _key(path=path)
    changed = [_changed_parts(plain, _key(**part)[0]) for part in parts]
    assert sorted(changed) == [[number] for number in range(len(plain))]


def _changed_parts(one, other):
    return [number for number, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]]


def test_credential_is_that_of_the_token_or_the_session():
    """Other headers change neither the key nor the credential."""
    assert _key() == _key(headers={"x-request-id": "c", "user-agent": "x", "accept-encoding": "br"})
    assert _key()[0] == _key(headers={"cookie": "django_language=en"})[0]
    assert _key()[0] != _key(headers={"cookie": "django_language=zh-hans"})[0]
    given = [{}, {"authorization": "Bearer x"}, {"authorization": "Bearer y"}, {"cookie": "sessionid=x"}]
    found = [_key(headers=headers) for headers in given]
    assert len({credential for _, credential in found}) == len(given)
    assert {key for key, _ in found} == {_key()[0]}


def test_requests_with_bodies_or_repeated_headers_have_no_kept_answers():
    assert _key(method="HEAD") == _key()
    for headers in ({"content-length": "3"}, {"transfer-encoding": "chunked"}, {"authorization": ""}):
        assert _key(headers=headers) is None
    assert _key(method="POST") is _key(repeated=[(b"host", b"b")]) is None


@pytest.mark.django_db
def test_each_part_of_the_access_changes_one_part_of_its_key(team, alice, bob):
    """Together, they change all parts, so that no part of the key is without a test."""
    dora, root, robot, viewer, other = (User(pk=900 + n, username=f"user{n}") for n in range(5))
    root.is_superuser, robot.kind = True, UserKind.SERVICE
    User.objects.bulk_create([dora, root, robot, viewer, other])
    Membership.objects.create(user=viewer, team=team, role=Role.VIEWER)
    session, token = Actor(user=dora), Token(owner=dora)
    with_token = Actor(user=dora, token=token, scopes=frozenset())
    pairs = [
        (session, ANONYMOUS),
        (session, Actor(user=root)),
        (session, Actor(user=robot)),
        (session, with_token),
        (with_token, Actor(user=dora, token=Token(owner=dora, team=team), scopes=frozenset())),
        (with_token, Actor(user=dora, token=token, scopes=frozenset(["read"]))),
        (session, Actor(user=viewer)),
    ]
    changed = [_changed_parts(access_key(one), access_key(other)) for one, other in pairs]
    assert sorted(changed) == [[number] for number in range(len(access_key(session)))]
    assert access_key(Actor(user=other)) == access_key(session)
    assert access_key(Actor(user=bob)) != access_key(Actor(user=alice))  # the role differs
    scopes = [frozenset(each) for each in (["read"], ["read", "run"])]
    keys = [access_key(Actor(user=dora, token=token, scopes=each)) for each in scopes]
    assert keys[0] != keys[1]


def test_least_recently_used_answers_are_dropped_first(monkeypatch):
    monkeypatch.setattr(kept, "MAX_BYTES", 10_000)
    store, log = AnswerStore(), ChangeLog()
    log.start(1)
    for key in (("a",), ("b",)):
        store.put(key, Answer(200, [], (b"x" * 2_000,), seen=1))
    assert store.find(("a",), log, 0.0)[0]
    store.put(("c",), Answer(200, [], (b"x" * 2_000,), seen=1))
    assert [store.find((key,), log, 0.0)[1] for key in "abc"] == [True, False, True]
    answer = store.known[("a",)]
    store.add_form(("a",), answer, b"gzip", Head(200, []), b"x" * 5_000)
    store.add_form(("a",), answer, kept.UNCHANGED, Head(304, [(b"x", b"y" * 100)]))
    store.add_form(("b",), Answer(200, [], (b"dropped",)), kept.UNCHANGED, Head(304, []))
    assert store.bytes == sum(answer.size + 1 for answer in store.known.values()) <= 10_000


@pytest.mark.parametrize(
    ("headers", "key"),
    [([(b"x", b"y" * 9_000)], ("a",)), ([], ("a", b"y" * 9_000))],
)
def test_memory_limit_counts_headers_and_keys(monkeypatch, headers, key):
    monkeypatch.setattr(kept, "MAX_BYTES", 10_000)
    store = AnswerStore()
    store.put(key, Answer(200, headers, ()))
    assert store.known == {}
    assert store.bytes == 0
