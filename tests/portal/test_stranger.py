"""Every page as a user without access: private objects respond exactly like absent ones."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.models.identity import new_uid
from tests.addresses import filled, routes
from tests.factories.runs import make_run
from tests.factories.skills import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]

SECRET = "Kestrel-Zebra"
PARTS = {"team": "docs", "slug": "kestrel", "number": "1.0.0", "path": "SKILL.md", "name": "stable"}
PARTS |= {"before": "1.0.0", "after": "latest", "tag": "stable", "collection": "start"}
ABSENT = {"team": "dxcs", "slug": "kxstrxl", "number": "7.7.7", "path": "nxthing", "name": "stxble"}
ABSENT |= {"before": "7.7.7", "after": "lxtest", "tag": "stxble", "collection": "stxrt"}
OWN = {"pk": "1"}  # keys of second factors, of which each user reaches only their own
LINKS = dict.fromkeys(
    ("secret", "uidb64", "token", "note", "ticket"), "none"
)  # links are secrets: nobody guesses them


def pages():
    return [route for route in routes() if not route.startswith(("api/", "hooks/", "static/"))]


@pytest.fixture
def hidden(team, alice):
    """A private skill of Alice's team and a run of it, both full of one word."""
    head = f"name: kestrel\ndisplayName: {SECRET}\ndescription: {SECRET} hunts.\nversion: 1.0.0"
    text = f"---\n{head}\n---\n# {SECRET}\n"
    script = f"print('{SECRET}')\n"
    files = {"SKILL.md": text.encode(), "scripts/go.py": script.encode()}
    version = publish_files(files, team=team, user=alice)
    chosen = [ChosenSkill("docs/kestrel")]
    edit.create(team, "start", Actor(user=alice), title=SECRET, chosen=chosen)
    return make_run(version, alice, team, message=SECRET, request={"inputs": {"word": SECRET}})


def _content(answer, swaps=()):
    """Status, body and headers without random values, with the absent names replaced by the private ones."""
    counted = ("RateLimit-Remaining", "RateLimit-Reset")
    headers = sorted(pair for pair in answer.items() if pair[0] not in counted)
    text = answer.getvalue().decode(errors="replace") + str(headers)
    for absent, there in swaps:
        text = text.replace(absent, there)
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"|csrftoken=\w+|expires=[^;]+;', "", text)
    return answer.status_code, re.sub(r"'Content-Length', '\d+'|'Expires', '[^']+'", "", text)


def _clients(charlie):
    same_id = {"x-request-id": "stranger-1"}  # otherwise each answer has its own
    signed_in = Client(headers=same_id)
    signed_in.force_login(charlie)
    return {"anonymous": Client(headers=same_id), "charlie": signed_in}


@pytest.mark.matrix("who", "method")
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("who", ["anonymous", "charlie"])
def test_no_page_tells_a_stranger_that_something_is_there(hidden, charlie, who, method):
    request = getattr(_clients(charlie)[who], method)
    walked = 0
    for route in pages():
        there = {
            **PARTS,
            **OWN,
            **LINKS,
            "uid": hidden.uid,
            "other": hidden.uid,
            "slug": "docs" if route.startswith("teams/") else PARTS["slug"],
        }
        absent = {**ABSENT, **OWN, **LINKS, "uid": new_uid(), "other": new_uid()}
        swaps = [(absent[name], there[name]) for name in there]
        seen, unseen = filled(route, there), filled(route, absent)
        if seen == unseen:
            continue
        assert _content(request(f"/{seen}")) == _content(request(f"/{unseen}"), swaps), route
        walked += 1
    assert walked > 60


@pytest.mark.matrix("who", "query", at_most=2)
@pytest.mark.parametrize("query", ["", "?q=kestrel", "?team=docs", "?skill=docs/kestrel"])
@pytest.mark.parametrize("who", ["anonymous", "charlie"])
def test_no_page_without_a_name_in_its_address_says_the_word(hidden, charlie, who, query):
    client = _clients(charlie)[who]
    for route in pages():
        if "<" not in route:
            assert SECRET not in client.get(f"/{route}{query}").getvalue().decode(), route


def test_alice_herself_finds_it(hidden, client, alice):
    client.force_login(alice)
    assert SECRET in client.get("/skills/").content.decode()
    assert SECRET in client.get(f"/runs/{hidden.uid}/").content.decode()
