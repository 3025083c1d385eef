"""Rate limits of the API: per user and address, with headers, before anything else is done."""

from __future__ import annotations

from typing import Any

import pytest

from registry.models import User, Version
from registry.rates.counters import WINDOW_S
from tests.api.conftest import SKILL_MD, archive, assert_error

pytestmark = [pytest.mark.row("P9"), pytest.mark.django_db]
SEARCH = "search?q=summary"
KINDS: dict[str, list[tuple[str, str, Any]]] = {
    "search": [("GET", SEARCH, None), ("GET", "skills?q=summary", None)],
    "match": [("POST", "match", {"utterance": "sum it up"})],
    "publish": [
        ("POST", "packages?team=docs", archive({"SKILL.md": SKILL_MD.replace("1.0.0", "1.1.0")})),
        ("POST", "packages?team=docs&dry_run=1", archive()),
        ("POST", "packages/migrate", archive()),
        ("POST", "skills/docs/summarise/versions/1.0.0/edits", {}),
    ],
    "run": [
        ("POST", "runs", {"skill": "docs/summarise"}),
        ("POST", "events", {"type": "report.filed"}),
        ("POST", "events/unknown/start", {"skill": "docs/summarise"}),
    ],
}
CALLS = [(kind, *call) for kind, calls in KINDS.items() for call in calls]


def _send(api, method, path, body):
    return api(method, path, body, kind="application/zip" if isinstance(body, bytes) else "application/json")


def _headers(answer):
    names = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
    return tuple(int(answer[name]) for name in names if name in answer)


@pytest.mark.parametrize(("kind", "method", "path", "body"), CALLS)
def test_request_above_the_limit_gets_429_and_changes_nothing(
    version, as_alice, as_bob, rate_limits, kind, method, path, body
):
    rate_limits(**{kind: 1})
    first = _send(as_alice, method, path, body)
    assert first.status_code != 429
    assert _headers(first)[:2] == (1, 0)
    before = Version.objects.count()
    refused = _send(as_alice, method, path, body)
    assert assert_error(refused, 429, "RATE_LIMITED")["retryable"]
    limit, remaining, reset = _headers(refused)
    assert (limit, remaining, int(refused["Retry-After"])) == (1, 0, reset)
    assert 0 < reset <= WINDOW_S
    assert Version.objects.count() == before
    assert _send(as_bob, method, path, body).status_code != 429


def test_tokens_and_sessions_of_one_user_count_together(version, alice, as_alice, token_api, rate_limits):
    rate_limits(search=2)
    answers = [api.get(SEARCH) for api in (as_alice, token_api(alice, "read"), token_api(alice))]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [_headers(answer)[1] for answer in answers] == [1, 0, 0]


def test_anonymous_requests_count_per_address(public_version, anonymous, rate_limits):
    rate_limits(search=1)
    addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "192.0.2.1"]
    answers = [anonymous.get(SEARCH, REMOTE_ADDR=address) for address in addresses]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]


def test_address_is_the_connection_s_and_not_the_client_s_word(public_version, anonymous, rate_limits):
    """A trusted proxy's X-Forwarded-For is resolved by the server, before Django."""
    rate_limits(search=1)
    answers = [anonymous.get(SEARCH, headers={"X-Forwarded-For": f"192.0.2.{n}"}) for n in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]


def test_limit_of_0_counts_nothing(version, as_bob, rate_limits):
    rate_limits(match=1)
    answers = [as_bob.get(SEARCH) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    assert not any(_headers(answer) for answer in answers)


def test_other_reads_have_no_limit(version, as_bob, rate_limits):
    rate_limits(search=1)
    assert {as_bob.get("skills").status_code for _ in range(3)} == {200}
    assert not _headers(as_bob.get("skills/docs/summarise"))


def test_repeated_request_with_key_counts(version, as_bob, rate_limits):
    rate_limits(run=2)
    key = {"Idempotency-Key": "once"}
    answers = [as_bob.post("runs", {"skill": "docs/summarise"}, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202, 202, 429]


def test_request_without_permission_counts_nothing(version, alice, token_api, as_alice, rate_limits):
    rate_limits(run=1)
    reader = token_api(alice, "read")
    assert_error(reader.post("runs", {"skill": "docs/summarise"}), 403, "TOKEN_SCOPE_MISSING")
    assert as_alice.post("runs", {"skill": "docs/summarise"}).status_code == 202


def test_shell_has_no_limit(version, rate_limits, alice, actor_of):
    from portal.management.in_process import Call, InProcessClient

    rate_limits(search=1)
    client = InProcessClient(actor_of(User.objects.get(username="alice")))
    answers = [client.send(Call("GET", "/api/v1/search", "q=summary")) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}


def test_limit_of_a_kind_leaves_the_others(version, as_bob, rate_limits):
    rate_limits(search=1, match=1)
    assert [as_bob.get(SEARCH).status_code for _ in range(2)] == [200, 429]
    assert as_bob.post("match", {"utterance": "sum it up"}).status_code == 200
