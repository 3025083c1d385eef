"""The Rules tab of a team, the rules of a token, and the decision on a skill's page."""

from __future__ import annotations

import pytest

from registry import rules, secrets
from registry.actors import Actor
from registry.models import AuditEntry, Membership, Role, Rule, Team
from registry.teams import create_team
from tests.portal.test_stranger import _told as told
from tests.registry.conftest import make_package
from tests.samples import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("D6")]

RULES = "/teams/docs/rules/"
RUN = "/skills/elsewhere/report/run/"


@pytest.fixture
def others(charlie):
    """Charlie's public skill, which asks for a tool."""
    from registry.packages.package import PackageFile
    from registry.publishing import publish

    away = Team.objects.get(slug="elsewhere")

    def make(version="1.0.0", tools=("Bash",), **more):
        files = (PackageFile("scripts/main.py", b"print('{}')"),)
        package = make_package(version=version, files=files, allowed_tools=tools, **more)
        return publish(package, team=away, actor=Actor(user=charlie), visibility="public").version

    return make


def test_an_owner_adds_a_rule_and_takes_it_back(browse, alice, others):
    others()
    client = browse(alice)
    assert "There is no rule yet" in client.get(RULES).text
    page = client.post(RULES, {"effect": "allow", "name": "/elsewhere/report", "version": ""}, follow=True)
    for said in ("elsewhere/report", "elsewhere/report@1.0.0", "Bash", "Allowed", "alice"):
        assert said in page.text
    uid = Rule.objects.get().uid
    assert f"/rules/{uid}/remove/" in page.text
    page = client.post(f"/rules/{uid}/remove/", follow=True)
    assert "There is no rule yet" in page.text
    page = client.post(f"/rules/{uid}/restore/", follow=True)
    assert "stands again" in page.text
    assert "rule.restore" in client.get("/teams/docs/").text


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"effect": "deny", "name": "no name"}, "is not the name of skills"),
        ({"effect": "allow", "name": "docs/absent"}, "There is no skill"),
        ({"effect": "deny", "name": ""}, "required"),
        ({"effect": "perhaps", "name": "docs/x"}, "perhaps"),
    ],
)
def test_what_is_no_rule_is_said_at_the_form(browse, alice, asked, says):
    page = browse(alice).post(RULES, asked)
    assert page.status_code == 422
    assert says in page.text
    assert not Rule.objects.exists()


@pytest.mark.parametrize(
    ("role", "may_add", "may_allow"),
    [(Role.VIEWER, False, False), (Role.MEMBER, False, False), (Role.MAINTAINER, True, False)],
)
def test_each_role_is_offered_what_it_may(browse, alice, bob, team, others, role, may_add, may_allow):
    others()
    Membership.objects.filter(user=bob).update(role=role)
    rule = rules.add_rule(team, "allow", "elsewhere/report", Actor(user=alice))
    page = browse(bob).get(RULES)
    assert "elsewhere/report" in page.text
    assert ("Add the rule" in page.text) is may_add
    assert ('value="allow"' in page.text) is may_allow
    assert (f"/rules/{rule.uid}/remove/" in page.text) is may_add


def test_a_stranger_finds_neither_rules_nor_who_keeps_them(browse, alice, charlie, private, team):
    rule = rules.add_rule(team, "deny", "x", Actor(user=alice))
    client = browse(charlie)
    assert client.get(RULES).status_code == client.get("/teams/dxcs/rules/").status_code == 404
    for verb in ("remove", "restore"):
        answers = [client.post(f"/rules/{uid}/{verb}/") for uid in (rule.uid, "absent")]
        assert told(answers[0]) == told(answers[1], [("absent", rule.uid)])
        assert answers[0].status_code == 404
    assert "/sign-in/" in browse(None).get(RULES)["Location"]


def test_a_visible_teams_rules_are_its_members_alone(browse, charlie, public):
    assert browse(charlie).get(RULES).status_code == 403
    assert RULES not in browse(charlie).get("/teams/docs/").text


def test_the_skills_page_says_why_agents_may_not_and_an_owner_lets_them(browse, alice, bob, others):
    others()
    page = browse(bob).get(RUN)
    assert "Agents of docs wait until somebody lets them" in page.text
    assert "allowed_tools" in page.text
    assert "elsewhere/report:*" not in page.text
    client = browse(alice)
    assert "elsewhere/report:*" in client.get(RUN).text
    asked = {"name": "elsewhere/report:*", "version": "1.0.0"}
    page = client.post("/skills/elsewhere/report/allow/", asked, follow=True)
    assert "a rule allows it" in page.text
    assert "Undo" in page.text
    assert AuditEntry.objects.filter(action="rule.add").count() == 1
    others(version="2.0.0", tools=("Bash", "Write"))
    page = client.get(RUN)
    assert "New since that was allowed" in page.text
    assert ">Write<" in page.text


@pytest.mark.row("D11")
def test_the_page_says_of_what_is_kept_for_people_that_no_agent_runs_it(browse, alice, others):
    others(disable_model_invocation=True)
    page = browse(alice).get(RUN).text
    assert "Agents do not run it: its author keeps it for people." in page
    assert "Everything that it asks for" not in page


def test_the_run_form_decides_for_the_team_that_is_chosen(browse, alice, others):
    """Without scripts too: another team's decision is a link, and its rule is its own."""
    others()
    second = create_team("press", "Press", Actor(user=alice))
    client = browse(alice)
    assert "?team=press" in client.get(RUN).text
    page = client.get(f"{RUN}?team=press").text
    assert "Agents of press wait until somebody lets them" in page
    assert "Everything that it asks for" in page
    assert 'name="team" value="press"' in page
    asked = {"name": "elsewhere/report", "version": "1.0.0", "team": "press"}
    page = client.post("/skills/elsewhere/report/allow/", asked, follow=True)
    assert "Agents of press run it unasked: a rule allows it" in page.text
    assert Rule.objects.get().team == second
    assert "Agents of docs wait" in client.get(f"{RUN}?team=docs").text


def test_a_rule_is_made_for_no_team_of_others(browse, alice, others):
    others()
    asked = {"name": "elsewhere/report", "version": "1.0.0", "team": "elsewhere"}
    assert browse(alice).post("/skills/elsewhere/report/allow/", asked).status_code in (302, 404)
    assert not Rule.objects.exists()


def test_a_member_who_posts_an_allowance_is_refused_and_told(browse, bob, others):
    others()
    asked = {"name": "elsewhere/report", "version": "1.0.0"}
    page = browse(bob).post("/skills/elsewhere/report/allow/", asked, follow=True)
    assert "You may not do this here" in page.text
    assert not Rule.objects.exists()


def test_a_person_is_refused_by_a_denial_where_they_press_run(browse, alice, others, team):
    others()
    rules.add_rule(team, "deny", "elsewhere/:*", Actor(user=alice))
    client = browse(alice)
    assert "a rule forbids it" in client.get(RUN).text
    page = client.post(RUN, {"version": "1.0.0", "run": "1", "team": "docs"})
    assert page.status_code == 422
    assert "the rule elsewhere/:* of docs forbids it" in page.text


def test_a_token_has_rules_of_its_own(browse, alice, bob, others):
    from datetime import timedelta

    from django.utils import timezone

    from registry import tokens

    others()
    ends = timezone.now() + timedelta(days=1)
    token, _secret = tokens.issue(bob, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=bob))
    address = f"/account/tokens/{token.uid}/rules/"
    client = browse(bob)
    assert address in client.get("/account/tokens/").text
    page = client.post(address, {"effect": "deny", "name": "report"}, follow=True)
    assert "Denied" in page.text
    assert browse(alice).get(address).status_code == 404


def test_a_prompt_says_it_too(browse, alice, public):
    page = browse(alice).get("/skills/docs/kind-review/use/")
    assert "May agents run this?" in page.text
    assert "May agents run this?" not in browse(None).get("/skills/docs/kind-review/use/").text


def test_the_run_form_says_which_secrets_are_missing_before_run_is_pressed(browse, alice, team):
    head = b"---\nname: post\ndescription: P.\nversion: 1.0.0\nsecurity: {secrets: [API_KEY]}\n---\n# P\n"
    files = {"SKILL.md": head, "scripts/post.py": b"print('{}')\n"}
    version, owner = publish_files(files, team=team, user=alice), Actor(user=alice)
    client, form = browse(alice), "/skills/docs/post/run/"
    page = client.get(form).text
    assert "Not set" in page
    link = "/teams/docs/secrets/?skill=docs/post&amp;version=1.0.0"
    assert link in page
    assert "Show what it needs" in client.get(link.replace("&amp;", "&")).text
    kept = secrets.put_secret(team, "API_KEY", "s3cr3t value", owner)
    page = client.get(form).text
    assert "Not granted" in page
    assert "Not set" not in page
    secrets.grant(kept, version, owner)
    assert "It cannot start yet" not in client.get(form).text
