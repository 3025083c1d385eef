from datetime import timedelta

import pytest
from django.utils import timezone

from registry.models import IdempotencyKey, Use
from tests.api.conftest import assert_error

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]
USE = {"skill": "docs/summarise"}
KEY = {"Idempotency-Key": "7f1c"}


@pytest.fixture
def claim(version, as_bob):
    """The row of a request that was answered."""
    as_bob.post("usage", USE, headers=KEY)
    return IdempotencyKey.objects.get()


def test_the_same_request_again_gets_the_first_answer(version, as_bob):
    first = as_bob.post("usage", USE, headers=KEY)
    again = as_bob.post("usage", {"skill": "docs/summarise", "kind": "load"}, headers=KEY)
    assert first.json()["counted"]
    assert again.content == first.content
    assert again["Idempotency-Replayed"] == "true"
    assert as_bob.post("usage", USE).json()["counted"] is False


def test_a_key_for_another_request_is_refused(claim, as_bob):
    other = as_bob.post("usage", {**USE, "kind": "install"}, headers=KEY)
    assert_error(other, 422, "IDEMPOTENCY_KEY_REUSED")
    assert Use.objects.get().count == 1


def test_a_key_is_its_callers_own(claim, as_alice, bob, token_api):
    assert as_alice.post("usage", {**USE, "kind": "install"}, headers=KEY).status_code == 200
    assert token_api(bob).post("usage", {**USE, "kind": "install"}, headers=KEY).status_code == 200


def test_a_refusal_is_not_kept(version, as_bob):
    assert_error(as_bob.post("usage", {"skill": "docs/none"}, headers=KEY), 404, "NOT_FOUND")
    assert as_bob.post("usage", USE, headers=KEY).status_code == 200


def test_a_request_under_way_is_to_be_tried_again(claim, as_bob):
    IdempotencyKey.objects.update(status=None, created_at=timezone.now())
    answer = as_bob.post("usage", USE, headers=KEY)
    assert assert_error(answer, 409, "IDEMPOTENCY_UNDER_WAY")["retryable"]
    assert answer["Retry-After"]


@pytest.mark.row("P3")
def test_a_claim_of_a_dead_process_is_taken_over(claim, as_bob):
    IdempotencyKey.objects.update(status=None, created_at=timezone.now() - timedelta(minutes=5))
    assert as_bob.post("usage", USE, headers=KEY).status_code == 200
    assert IdempotencyKey.objects.get().status == 200


def test_who_was_taken_over_does_nothing(version, as_bob, monkeypatch):
    """The first process was only slow: when it comes to store its answer, another one has the claim."""
    from registry.usage import scores

    real = scores.record_use

    def slow(*arguments):
        IdempotencyKey.objects.update(created_at=timezone.now() + timedelta(seconds=1))
        return real(*arguments)

    monkeypatch.setattr("registry.usage.scores.record_use", slow)
    assert_error(as_bob.post("usage", USE, headers=KEY), 409, "IDEMPOTENCY_UNDER_WAY")
    assert not Use.objects.exists()


def test_an_error_on_our_side_leaves_the_key_free(version, as_bob, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("registry.usage.scores.record_use", broken)
        assert_error(as_bob.post("usage", USE, headers=KEY), 500, "INTERNAL")
    assert as_bob.post("usage", USE, headers=KEY).status_code == 200


def test_a_key_is_forgotten_after_a_day(claim, as_bob):
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    answer = as_bob.post("usage", {**USE, "kind": "install"}, headers=KEY)
    assert answer.status_code == 200


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "\x01"])
def test_a_key_of_the_wrong_form_is_refused(version, as_bob, key):
    answer = as_bob.post("usage", USE, headers={"Idempotency-Key": key})
    assert_error(answer, 400, "IDEMPOTENCY_KEY_INVALID")
