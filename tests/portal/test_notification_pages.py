"""The inbox and its badge."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from registry.core import sealing
from tests.factories.runs import make_run
from tests.pages import parsed, part
from worker.delivery import expand, record
from worker.delivery.sending.send import send_due
from worker.models import Approval, Delivery, NotificationSubscription

pytestmark = [pytest.mark.django_db, pytest.mark.row("P6", "P8")]
INBOX = "/notifications/"


@pytest.fixture
def failure(private, bob, team):
    run = make_run(private.latest, bob, team, status="failed", failure_code="SCRIPT_FAILED")
    record.run_ended(run, run.pk, "failed", timezone.now())
    expand.expand_pending()
    return run


def badge(page):
    return [each.text for each in page.parts("unread-notifications")]


def test_inbox_shows_the_badge_until_a_notification_is_opened(failure, browse, bob):
    client = browse(bob)
    page = parsed(client.get(INBOX))
    row = page.part("notification", code="first_failure", state="unread")
    assert badge(page) == ["1"]
    assert client.get(f"{INBOX}{row['value']}/").url == f"/runs/{failure.uid}/"
    page = parsed(client.get(INBOX))
    assert page.part("notification")["state"] == "read"
    assert badge(page) == []
    assert parsed(client.get(f"{INBOX}?show=unread")).part("empty")["state"] == "filtered"


def test_equal_notifications_are_one_entry_which_is_marked_as_read_as_a_whole(
    failure, private, browse, alice, bob, team, django_assert_max_num_queries
):
    for _ in range(3):
        run = make_run(private.latest, bob, team, status="waiting_approval")
        Approval.objects.create(run=run, expires_at=timezone.now() + timedelta(days=1))
        record.approval_requested(run)
    expand.expand_pending()
    client = browse(alice)
    client.get(INBOX)  # the first request of a session stores its client
    with django_assert_max_num_queries(8):
        row = parsed(client.get(INBOX)).part("notification", code="approval_waiting", state="unread")
    equal = row.part("equal")
    assert equal["value"] == "3"
    links = [link["href"] for link in equal.tags("a")]
    assert client.get(links[0]).url == f"/runs/{run.uid}/"
    read, unread = parsed(client.get(INBOX)).parts("notification")
    assert (read["state"], unread["state"]) == ("read", "unread")  # in the order of their newest
    assert unread.part("equal")["value"] == "2"
    (form,) = unread.tags("form")
    uids = [field["value"] for field in form.select("input", name="notification")]
    client.post(form["action"], {"notification": uids})
    assert badge(parsed(client.get(INBOX))) == []


def test_all_are_marked_as_read_by_one_button(failure, browse, bob, charlie):
    browse(charlie).post(f"{INBOX}read/")
    client = browse(bob)
    assert badge(parsed(client.get("/"))) == ["1"]
    client.post(f"{INBOX}read/")
    assert badge(parsed(client.get("/"))) == []


def test_inbox_of_others_is_empty(failure, browse, charlie, alice):
    for user in (charlie, alice):
        page = parsed(browse(user).get(INBOX))
        assert page.part("empty")["state"] == "none"
        assert badge(page) == []


def test_person_adds_tests_mutes_and_deletes_a_subscription(browse, bob, alice):
    client, where = browse(bob), f"{INBOX}settings/"
    assert parsed(client.get(where)).part("empty")["state"] == "none"
    form = {"channel": "slack", "kinds": ["run_failed"], "address": "http://127.0.0.1:9/x", "digest": "none"}
    assert client.post(where, {**form, "address": "nowhere"}).status_code == 422
    assert client.post(where, form).url == where
    row = parsed(client.get(where)).part("subscription", code="slack", state="active")
    own = f"{where}{row['value']}/"
    assert browse(alice).post(f"{own}mute/", {"hours": "24"}).status_code == 404
    client.post(f"{own}mute/", {"hours": "24"})
    assert parsed(client.get(where)).part("subscription")["state"] == "muted"
    client.post(f"{own}mute/", {"hours": "0"})
    assert client.post(f"{own}test/").url == f"{INBOX}deliveries/"
    send_due()
    row = parsed(client.get(f"{INBOX}deliveries/?channel=slack&state=queued")).part(
        "delivery", state="queued"
    )
    failed = Delivery.objects.get()
    assert failed.attempts == 1
    assert row.select("span", class_="badge warn")
    (link,) = row.part("reason").tags("a")
    assert link["href"].endswith(f"/{failed.error}/")
    row_of_channel = parsed(client.get(where)).part("subscription", state="failing")
    assert f"{INBOX}deliveries/?channel=slack" in [link["href"] for link in row_of_channel.tags("a")]
    client.post(f"{INBOX}deliveries/{row['value']}/retry/")
    assert Delivery.objects.get().attempts == 0
    assert parsed(client.get(f"{INBOX}deliveries/?state=sent")).part("empty")["state"] == "filtered"
    client.post(f"{own}remove/")
    assert parsed(client.get(f"{INBOX}deliveries/")).part("empty")["state"] == "none"


def test_owner_edits_a_subscription_and_empty_fields_keep_the_secrets(browse, bob, alice):
    client, where = browse(bob), f"{INBOX}settings/"
    address = "http://127.0.0.1:9/hook"
    form = {"channel": "feishu", "kinds": ["run_failed"], "address": address, "secret": "s", "digest": "none"}
    client.post(where, form)
    own = f"{where}{parsed(client.get(where)).part('subscription')['value']}/"
    assert browse(alice).get(own).status_code == 404
    page = client.get(own)
    assert "/hook" not in page.content.decode()
    assert set(page.context["form"].fields) == {
        *("kinds", "digest", "address", "secret", "without_secret", "muted_until"),
    }
    change = {
        "kinds": ["recovered", "approval_waiting"],
        "digest": "daily",
        "muted_until": "2999-01-01T10:30",
    }
    assert client.post(own, {**change, "address": "nowhere"}).status_code == 422
    assert client.post(own, {**change, "kinds": []}).status_code == 422
    assert client.post(own, change).url == where
    row = NotificationSubscription.objects.get()
    assert (row.kinds, row.digest) == (["recovered", "approval_waiting"], "daily")
    assert parsed(client.get(where)).part("subscription")["state"] == "muted"
    assert (sealing.unseal(row.address), sealing.unseal(row.secret)) == (address, "s")
    client.post(own, {**change, "muted_until": "", "address": f"{address}2", "without_secret": "on"})
    row.refresh_from_db()
    assert (sealing.unseal(row.address), row.secret, row.muted_until) == (f"{address}2", "", None)


def test_edit_page_of_an_inbox_offers_only_its_kinds_and_the_mute(browse, alice, bob, team):
    where = f"/teams/{team.slug}/notifications/"
    client = browse(alice)
    client.post(where, {"channel": "inbox", "kinds": ["recovered"], "digest": "none"})
    own = f"{INBOX}settings/{parsed(client.get(where)).part('subscription')['value']}/"
    assert set(client.get(own).context["form"].fields) == {"kinds", "muted_until"}
    assert client.post(own, {"kinds": ["report_filed"]}).url == where
    assert NotificationSubscription.objects.get().kinds == ["report_filed"]
    assert browse(bob).get(own).status_code == 404


def test_team_page_is_for_maintainers_and_its_deliveries_can_be_replayed(failure, browse, alice, bob, team):
    where = f"/teams/{team.slug}/notifications/"
    assert browse(bob).get(where).status_code == 403
    client = browse(alice)
    form = {"channel": "slack", "kinds": ["recovered"], "address": "http://127.0.0.1:9/x", "digest": "none"}
    assert client.post(where, form).url == where
    record.run_ended(failure, failure.pk, "succeeded", timezone.now())
    expand.expand_pending()
    assert not parsed(client.get(f"{INBOX}deliveries/")).parts("response-code")
    Delivery.objects.update(state="sent", last_status=204, excerpt="Thanks")
    row = parsed(client.get(f"{INBOX}deliveries/")).part("delivery", state="sent")
    assert row.part("response-code")["value"] == "204"
    assert "204" in row.tags("summary")[0].text
    client.post(f"{INBOX}deliveries/{row['value']}/replay/")
    assert Delivery.objects.filter(replay_of__uid=row["value"], state="queued").count() == 1
    assert parsed(browse(bob).get(f"{INBOX}deliveries/")).part("empty")["state"] == "none"


def test_address_and_secret_are_marked_as_fields_of_other_channels_than_the_inbox(browse, bob):
    page = browse(bob).get("/notifications/settings/")
    inputs = part(page, **{"for": "address"}).tags("input")
    assert [field["name"] for field in inputs] == ["address", "secret"]
