"""Every page, as somebody who must see nothing: what is private answers exactly as what is not there."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from registry.models.identity import new_uid
from tests.addresses import filled, routes
from tests.run_samples import make_run
from tests.samples import publish_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]

SECRET = "Kestrel-Zebra"
PARTS = {"team": "docs", "slug": "kestrel", "number": "1.0.0", "path": "SKILL.md", "name": "stable"}
PARTS |= {"before": "1.0.0", "after": "latest"}
ABSENT = {"team": "dxcs", "slug": "kxstrxl", "number": "7.7.7", "path": "nxthing", "name": "stxble"}
ABSENT |= {"before": "7.7.7", "after": "lxtest"}


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
    return make_run(version, alice, team, message=SECRET, request={"inputs": {"word": SECRET}})


def _told(answer, swaps=()):
    """All that an answer says, with the absent names written as the private ones, without what is random."""
    text = answer.getvalue().decode(errors="replace") + str(sorted(answer.items()))
    for absent, there in swaps:
        text = text.replace(absent, there)
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"|csrftoken=\w+|expires=[^;]+;', "", text)
    return answer.status_code, re.sub(r"'Content-Length', '\d+'|'Expires', '[^']+'", "", text)


def _clients(charlie):
    signed_in = Client()
    signed_in.force_login(charlie)
    return {"anonymous": Client(), "charlie": signed_in}


def test_no_page_tells_a_stranger_that_something_is_there(hidden, charlie):
    walked = 0
    for who, client in _clients(charlie).items():
        for route in pages():
            there = {
                **PARTS,
                "uid": hidden.uid,
                "other": hidden.uid,
                "slug": "docs" if route.startswith("teams/") else PARTS["slug"],
            }
            absent = {**ABSENT, "uid": new_uid(), "other": new_uid()}
            swaps = [(absent[name], there[name]) for name in there]
            seen, unseen = filled(route, there), filled(route, absent)
            if seen == unseen:
                continue
            for method in ("get", "post"):
                one, other = getattr(client, method)(f"/{seen}"), getattr(client, method)(f"/{unseen}")
                assert _told(one) == _told(other, swaps), (who, method, route)
                walked += 1
    assert walked > 60


def test_no_page_without_a_name_in_its_address_says_the_word(hidden, charlie):
    for who, client in _clients(charlie).items():
        for route in pages():
            if "<" in route:
                continue
            for query in ("", "?q=kestrel", "?team=docs", "?skill=docs/kestrel"):
                text = client.get(f"/{route}{query}").content.decode()
                assert SECRET not in text, (who, route, query)


def test_alice_herself_finds_it(hidden, client, alice):
    client.force_login(alice)
    assert SECRET in client.get("/skills/").content.decode()
    assert SECRET in client.get(f"/runs/{hidden.uid}/").content.decode()
