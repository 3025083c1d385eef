from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from registry.core.sql import try_lock
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


def test_request_under_way_is_answered_at_once_with_retry_after(version, as_bob, monkeypatch):
    """The second request arrives while the first one is being processed."""
    from registry.usage import recording

    real, answers = recording.record_use, []

    def slow(*arguments):
        if not answers:
            answers.append(as_bob.post("usage", USE, headers=KEY))
        return real(*arguments)

    monkeypatch.setattr("registry.usage.recording.record_use", slow)
    assert as_bob.post("usage", USE, headers=KEY).json()["counted"]
    assert assert_error(answers[0], 409, "IDEMPOTENCY_UNDER_WAY")["retryable"]
    assert int(answers[0]["Retry-After"]) <= 5
    assert Use.objects.get().count == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.postgresql
def test_lock_of_another_transaction_is_not_taken(db):
    with transaction.atomic():
        assert try_lock("one")
        assert _in_thread(try_lock, "one") is False
        assert _in_thread(try_lock, "another") is True
    assert _in_thread(try_lock, "one") is True


def _in_thread(function, *arguments):
    def call():
        with transaction.atomic():
            found = function(*arguments)
        connection.close()
        return found

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()


def test_an_error_on_our_side_leaves_the_key_free(version, as_bob, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("registry.usage.recording.record_use", broken)
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
