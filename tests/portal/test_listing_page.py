"""The page of the agent listing, and the forms that change which skills it has."""

from __future__ import annotations

import pytest

from registry.models import Skill, Subscription
from tests.pages import actions, messages, part, parts, select

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7")]
PAGE = "/skills/listing/"


def text(answer, status=200):
    assert answer.status_code == status
    return answer.content.decode()


def test_a_member_sees_the_agent_listing_in_each_form(browse, bob, private):
    client = browse(bob)
    assert "(weekly-report): " in text(client.get(PAGE))
    assert "&lt;available_skills&gt;" in text(client.get(f"{PAGE}?format=xml"))
    assert "- Registry: " in text(client.get(f"{PAGE}?format=section&limit=1"))
    small = text(client.get(f"{PAGE}?context_tokens=1000"))
    assert part(small, "listed")["cut"] == "name"
    assert part(small, "stage")["value"] == "names"


def test_only_fields_that_can_be_empty_are_marked_optional(browse):
    labels = select(browse().get(PAGE), "label")
    marked = {label["for"] for label in labels if label.select("span", class_="optional")}
    assert marked == {"id_context_tokens", "id_limit", "id_paths"}  # a format is always chosen


@pytest.mark.row("D8")
def test_an_omitted_skill_has_its_reason(browse, bob, private, public):
    Skill.objects.filter(pk=private.pk).update(paths=["*.css"])

    def omitted(query=""):
        rows = parts(text(browse(bob).get(f"{PAGE}{query}")), "omitted")
        return [(row["value"], row["reason"]) for row in rows]

    assert omitted() == [("docs/weekly-report", "paths")]
    assert omitted("?paths=a.css") == []
    assert [reason for _skill, reason in omitted("?limit=1&paths=a.css")] == ["limit"]


@pytest.mark.row("P2")
def test_strangers_are_shown_nothing_private(browse, charlie, private):
    for person in (charlie, None):
        shown = text(browse(person).get(PAGE))
        assert "weekly" not in shown
        assert parts(shown, "empty")
        assert not parts(shown, "listed")


@pytest.mark.parametrize("query", ["context_tokens=x", "context_tokens=-1", "limit=0", "format=yaml"])
def test_an_invalid_query_is_an_error_of_its_field(browse, query):
    assert "errorlist" in text(browse().get(f"{PAGE}?{query}"), 422)


def test_a_maintainer_subscribes_on_the_teams_page_and_undoes_it(browse, charlie, public):
    client = browse(charlie)
    assert "subscribe" in actions(text(client.get("/teams/elsewhere/settings/")))
    for sent, kind in (({"team": "docs"}, "success"), ({"team": "nobody"}, "error"), ({}, "error")):
        answer = client.post("/teams/elsewhere/subscriptions/", sent, follow=True)
        assert messages(text(answer)) == [kind]
    assert Subscription.objects.get().publisher.slug == "docs"
    assert "kind-review" in text(client.get(PAGE))
    client.post("/teams/elsewhere/subscriptions/", {"remove": "docs"})
    assert not Subscription.objects.exists()


@pytest.mark.row("P2")
def test_members_see_subscriptions_and_change_none(browse, bob, charlie, public):
    shown = text(browse(bob).get("/teams/docs/settings/"))
    assert parts(shown, "subscriptions")
    assert "/teams/docs/subscriptions/" not in shown
    assert browse(charlie).get("/teams/docs/settings/").status_code == 404
    for person in (bob, charlie):
        browse(person).post("/teams/docs/subscriptions/", {"team": "elsewhere"})
    assert not Subscription.objects.exists()


def test_administrators_bundle_on_the_page(browse, administrator, alice, public):
    assert "unbundle" not in actions(text(browse(alice).get(PAGE)))
    browse(alice).post(f"{PAGE}bundle/", {"skill": str(public)})
    assert not Skill.objects.filter(is_bundled=True).exists()
    client = browse(administrator)
    bundled = text(client.post(f"{PAGE}bundle/", {"skill": str(public)}, follow=True))
    assert messages(bundled) == ["success"]
    assert "unbundle" in actions(bundled)
    assert part(text(browse().get(PAGE)), "listed")["place"] == "bundled"
    unknown = text(client.post(f"{PAGE}bundle/", {"skill": "a/b"}, follow=True))
    assert part(unknown, "message")["code"] == "NOT_FOUND"
    client.post(f"{PAGE}bundle/", {"remove": str(public)})
    assert "kind-review" not in text(browse().get(PAGE))
