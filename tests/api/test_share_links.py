"""Share links over the API."""

from __future__ import annotations

import pytest

from registry.erasure import people
from registry.erasure.export import export_person
from registry.identity.actors import Actor
from registry.models import Membership, Role, Team, Version
from tests.factories.runs import make_run
from worker.models import ShareLink

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P5")]


@pytest.fixture
def run(version, alice, team):
    return make_run(Version.objects.get(), alice, team)


def test_link_is_created_listed_and_revoked(run, as_alice, client):
    path = f"runs/{run.uid}/share-links"
    created = as_alice.post(path, {"artifacts": True, "days": 2}).json()
    page = created.pop("page_url")
    assert client.get(page[page.index("/shared/") :]).status_code == 200
    assert as_alice.get(path).json()["items"] == [created]
    assert created["state"] == "active"
    assert as_alice("DELETE", f"{path}/{created['id']}").json()["state"] == "revoked"
    assert client.get(page[page.index("/shared/") :]).status_code == 404


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda run: Team.objects.update(share_links=False), "SHARE_LINKS_OFF"),
        (lambda run: type(run).objects.update(status="running"), "SHARE_RUN_UNFINISHED"),
        (lambda run: ShareLink.objects.bulk_create(_links(run, 20)), "SHARE_LINKS_TOO_MANY"),
    ],
)
def test_link_is_refused_with_a_code(run, as_alice, change, code):
    change(run)
    assert as_alice.post(f"runs/{run.uid}/share-links", {}).json()["code"] == code


def _links(run, count):
    for number in range(count):
        yield ShareLink(
            run=run, secret_hash=str(number), created_by=run.caller, created_at=run.created_at,
            expires_at=run.created_at.replace(year=2100),
        )  # fmt: skip


def test_only_sharers_in_a_session_create_links(run, as_bob, as_charlie, bob, alice, token_api):
    path = f"runs/{run.uid}/share-links"
    assert as_charlie.post(path, {}).status_code == 404
    assert as_bob.post(path, {}).status_code == 403
    Team.objects.update(run_readers="team")
    link = as_bob.post(path, {}).json()
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert as_bob.get(path).status_code == 403
    assert ShareLink.objects.get().uid == link["id"]
    assert token_api(alice).post(path, {}).json()["code"] == "FORBIDDEN"


def test_links_of_a_person_are_exported_and_erased(run, as_bob, bob):
    Team.objects.update(run_readers="team")
    as_bob.post(f"runs/{run.uid}/share-links", {})
    assert [row["run"] for row in export_person(bob, by=Actor(user=bob))["share_links"]] == [run.uid]
    people.erase_person(bob, by=Actor(user=bob))
    assert not ShareLink.objects.exists()
