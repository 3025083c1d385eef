from __future__ import annotations

import json

import pytest

from registry.identity.actors import Actor
from registry.models import Team
from registry.search.facets import facets, facets_document
from registry.search.query import FACETS, Filters, search

pytestmark = [pytest.mark.django_db, pytest.mark.row("P4")]


@pytest.fixture
def count(publish_skill, alice, charlie):
    elsewhere = Team.objects.get(slug="elsewhere")
    publish_skill("a", name="Report a", type="direct", tags=("x",), category="office", domain="law")
    publish_skill("b", name="Report b", type="static", tags=("x", "y"), category="office")
    publish_skill("c", name="Chart", description="Draws.", body="x", type="direct", tags=("y",))
    publish_skill(
        "d", into=elsewhere, by=Actor(user=charlie), name="Report d", tags=("x",), visibility="site"
    )
    publish_skill(
        "hidden", into=elsewhere, by=Actor(user=charlie), name="Report hidden", tags=("x", "secret")
    )

    def do(text="", **filters):
        found = facets(text, Filters(**filters), Actor(user=alice))
        return {name: {each.value: each.count for each in values} for name, values in found.items()}

    return do


def test_every_facet_is_counted_over_what_the_actor_may_see(count):
    found = count()
    assert set(found) == set(FACETS)
    assert found["tag"] == {"x": 3, "y": 2}
    assert found["team"] == {"docs": 3, "elsewhere": 1}
    assert found["type"] == {"direct": 2, "static": 1}
    assert (found["category"], found["domain"]) == ({"office": 2}, {"law": 1})
    assert found["source"] == {"upload": 4}
    assert found["profile"] == {"agentskills": 4}


def test_with_a_text_only_what_it_finds_is_counted(count):
    assert count("report")["tag"] == {"x": 3, "y": 1}
    assert count("nothing of the sort")["tag"] == {}


def test_a_filter_narrows_the_others_and_not_itself(count):
    for text in ("", "report"):
        found = count(text, tag="y")
        assert found["tag"] == count(text)["tag"]
        assert found["type"] == ({"static": 1, "direct": 1} if not text else {"static": 1})


def test_each_count_is_what_choosing_it_finds(count, alice):
    for name, values in count("report").items():
        for value, number in values.items():
            hits = search("report", Actor(user=alice), filters=Filters(**{name: value})).hits
            assert len(hits) == number, (name, value)


def test_two_chinese_characters_find_every_skill_that_holds_them(publish_skill, alice):
    for n in range(60):
        publish_skill(f"s{n}", name=f"n{n}", body="周报" if n % 2 else "翻译")
    found = search("周报", Actor(user=alice), limit=100)
    assert len(found.hits) == found.total == 30


def test_a_private_publish_changes_no_byte_of_a_strangers_facets(publish_skill, charlie):
    publish_skill("open", name="Report open", tags=("x",), category="office", visibility="public")
    filters = [Filters(), Filters(tag="x"), Filters(category="office")]

    def seen():
        every = [facets(text, each, Actor(user=charlie)) for text in ("", "report") for each in filters]
        return json.dumps([facets_document(found) for found in every])

    before = seen()
    publish_skill("closed", name="Report closed", tags=("x", "secret"), category="office", type="direct")
    assert seen() == before
    assert '"x"' in before
