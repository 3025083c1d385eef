"""The keys of kept answers and of clients' access, and the memory limit of the answers."""

from __future__ import annotations

import pytest

from portal.streaming.kept import answers as kept
from portal.streaming.kept.access import access_key
from portal.streaming.kept.answers import Answer, AnswerStore
from portal.streaming.kept.request import read_request
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


@pytest.mark.parametrize(
    "part",
    [
        {"path": REVIEW},
        {"query_string": b"limit=1"},
        {"scheme": "https"},
        {"headers": {"host": "b"}},
        {"headers": {"accept": "application/octet-stream"}},
        {"headers": {"accept-language": "zh-hans"}},
        {"headers": {"cookie": "django_language=zh-hans"}},
        {"headers": {"authorization": "Bearer x"}},
        {"headers": {"cookie": "sessionid=x"}},
    ],
    ids=str,
)
def test_each_part_of_a_request_is_in_its_key(part):
    assert _key() != _key(**part)
    assert _key() == _key(headers={"x-request-id": "c", "user-agent": "x", "accept-encoding": "br"})


def test_requests_with_bodies_or_repeated_headers_have_no_kept_answers():
    assert _key(method="HEAD") == _key()
    for headers in ({"content-length": "3"}, {"transfer-encoding": "chunked"}, {"authorization": ""}):
        assert _key(headers=headers) is None
    assert _key(method="POST") is _key(repeated=[(b"host", b"b")]) is None


@pytest.mark.django_db
def test_each_part_of_the_access_is_in_its_key(team, alice, bob, charlie, administrator):
    service = User.objects.create(username="robot", kind=UserKind.SERVICE)
    for user in (service, User.objects.create(username="dora")):
        Membership.objects.create(user=user, team=team, role=Role.VIEWER)
    dora = User.objects.get(username="dora")
    actors = [ANONYMOUS, *(Actor(user=user) for user in (alice, bob, charlie, administrator, dora, service))]
    token = Token(owner=alice)
    actors += [
        Actor(user=alice, token=token, scopes=frozenset(scopes)) for scopes in (["read"], ["read", "run"])
    ]
    actors.append(Actor(user=alice, token=Token(owner=alice, team=team), scopes=frozenset(["read"])))
    keys = [access_key(actor) for actor in actors]
    assert len(set(keys)) == len(keys)
    Membership.objects.create(user=User.objects.create(username="eve"), team=team, role=Role.MEMBER)
    assert access_key(Actor(user=User.objects.get(username="eve"))) == access_key(Actor(user=bob))


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
