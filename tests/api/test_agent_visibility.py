"""A skill with ``disable-model-invocation`` is for people: agents, which use tokens, do not find it."""

import pytest

from tests.api.conftest import assert_error

pytestmark = [pytest.mark.row("D11", "P8"), pytest.mark.django_db]
PATHS = ["skills", "skills?q=contract", "search?q=contract", "search?q=docs/sign-contract"]
FOR_PEOPLE = """---
name: sign-contract
description: Signs a contract.
version: 1.0.0
tags: [contract]
disable-model-invocation: true
---
"""


@pytest.fixture
def for_people(publish):
    return publish({"SKILL.md": FOR_PEOPLE}, visibility="public")


@pytest.mark.parametrize(
    "path", ["skills", "skills?q=contract", "search?q=contract", "search?q=sign-contract"]
)
@pytest.mark.parametrize("filters", ["", "&team=docs"])
def test_token_does_not_find_the_skill_and_a_session_does(
    for_people, token_api, alice, as_alice, path, filters
):
    address = path + (filters if "?" in path else filters.replace("&", "?"))
    found = [api.get(address).json() for api in (as_alice, token_api(alice))]
    items = [[str(row) for row in each.get("items", each.get("results"))] for each in found]
    assert any("sign-contract" in row for row in items[0])
    assert items[1] == []


def test_facets_of_a_token_do_not_count_the_skill(for_people, token_api, alice, as_alice):
    tags = lambda api: api.get("search?q=&facets=1").json()["facets"]["tag"]  # noqa: E731
    assert {"value": "contract", "count": 1} in tags(as_alice)
    assert tags(token_api(alice)) == []


def test_agent_endpoints_do_not_contain_the_skill(for_people, token_api, alice):
    agent = token_api(alice)
    for path in ("agent/skills", "listing", "listing?format=xml"):
        assert "sign-contract" not in agent.get(path).content.decode()
    for name in ("sign-contract", "docs/sign-contract", for_people.skill.uid):
        assert_error(agent.get(f"agent/skills/load?name={name}"), 404, "LOAD_NOT_FOUND")
