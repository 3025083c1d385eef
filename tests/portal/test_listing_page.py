"""The page that shows what an agent is told, and the forms that say of whose skills."""

from __future__ import annotations

import pytest

from registry.models import Skill, Subscription

pytestmark = [pytest.mark.django_db, pytest.mark.row("D7")]
PAGE = "/skills/listing/"


def text(answer, status=200):
    assert answer.status_code == status
    return answer.content.decode()


def test_a_member_sees_what_their_agents_are_told_in_each_form(browse, bob, private):
    client = browse(bob)
    assert "- weekly-report: " in text(client.get(PAGE))
    assert "&lt;available_skills&gt;" in text(client.get(f"{PAGE}?form=xml"))
    assert "- Registry: " in text(client.get(f"{PAGE}?form=section&limit=1"))
    small = text(client.get(f"{PAGE}?context_tokens=500"))
    assert "name alone" in small
    assert "names stand alone" in small


@pytest.mark.row("D8")
def test_who_is_left_out_is_said_with_the_reason(browse, bob, private, public):
    Skill.objects.filter(pk=private.pk).update(paths=["*.css"])
    shown = text(browse(bob).get(PAGE))
    assert "none of the named files fits its paths" in shown
    assert "none of the named" not in text(browse(bob).get(f"{PAGE}?paths=a.css"))
    assert "there were places for so many only" in text(browse(bob).get(f"{PAGE}?limit=1&paths=a.css"))


@pytest.mark.row("P2")
def test_strangers_are_shown_nothing_private(browse, charlie, private):
    for person in (charlie, None):
        shown = text(browse(person).get(PAGE))
        assert "weekly" not in shown
        assert "An agent would be told of nothing" in shown


@pytest.mark.parametrize("query", ["context_tokens=x", "context_tokens=-1", "limit=0", "form=yaml"])
def test_what_is_asked_wrongly_is_said_beside_the_field(browse, query):
    assert "errorlist" in text(browse().get(f"{PAGE}?{query}"), 422)


def test_a_maintainer_subscribes_on_the_teams_page_and_takes_it_back(browse, charlie, public):
    client = browse(charlie)
    assert "Subscribe" in text(client.get("/teams/elsewhere/"))
    for name, said in (("docs", "The skills of docs are offered"), ("nobody", "There is no team nobody")):
        answer = client.post("/teams/elsewhere/subscriptions/", {"team": name}, follow=True)
        assert said in text(answer)
    assert "Name a team." in text(client.post("/teams/elsewhere/subscriptions/", {}, follow=True))
    assert "kind-review" in text(client.get(PAGE))
    client.post("/teams/elsewhere/subscriptions/", {"remove": "docs"})
    assert not Subscription.objects.exists()


@pytest.mark.row("P2")
def test_members_see_subscriptions_and_change_none(browse, bob, charlie, public):
    shown = text(browse(bob).get("/teams/docs/"))
    assert "Teams subscribed to" in shown
    assert "/teams/docs/subscriptions/" not in shown
    assert "Teams subscribed to" not in text(browse(charlie).get("/teams/docs/"))
    for person in (bob, charlie):
        browse(person).post("/teams/docs/subscriptions/", {"team": "elsewhere"})
    assert not Subscription.objects.exists()


def test_administrators_bundle_on_the_page(browse, administrator, alice, public):
    assert "Bundle no more" not in text(browse(alice).get(PAGE))
    browse(alice).post(f"{PAGE}bundle/", {"skill": str(public)})
    assert not Skill.objects.filter(is_bundled=True).exists()
    client = browse(administrator)
    assert "Saved." in text(client.post(f"{PAGE}bundle/", {"skill": str(public)}, follow=True))
    assert "bundled by administrators" in text(browse().get(PAGE))
    assert "There is no skill" in text(client.post(f"{PAGE}bundle/", {"skill": "a/b"}, follow=True))
    client.post(f"{PAGE}bundle/", {"remove": str(public)})
    assert "kind-review" not in text(browse().get(PAGE))
