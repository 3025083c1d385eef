"""What a request does not want is not what it is answered with."""

from __future__ import annotations

import pytest

from registry.core import search_terms
from registry.identity.actors import Actor
from registry.matching import match as matching
from registry.matching.sentences import negated_offsets
from registry.packages.package import Triggers

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def slugs(publish_skill, alice):
    sums, translates = ("summarize the report", "总结报告"), ("translate the report", "翻译报告")
    publish_skill("sum", description="Summarizes reports. 总结报告。", triggers=Triggers(phrases=sums))
    publish_skill("turn", description="Translates reports. 翻译报告。", triggers=Triggers(phrases=translates))
    actor = Actor(user=alice)
    return lambda said: [row.skill.slug for row in matching.match(matching.MatchQuery(said), actor).rows]


@pytest.mark.parametrize(
    "said",
    [
        "don't summarize the report, translate it",
        "Do not summarize the report; translate the report",
        "translate the report instead of summarizing it",
        "Translate the report, please don’t summarize the report",
        "I don't want to summarize the report but translate it",
        "不要总结报告，翻译一下",
        "别总结报告，翻译报告",
        "翻译报告，不用总结报告",
    ],
)
def test_the_skill_for_what_is_denied_does_not_come_first(slugs, said):
    assert slugs(said)[0] == "turn"


@pytest.mark.parametrize(
    "said", ["要不要总结报告", "特别总结报告", "I do not understand it, summarize the report"]
)
def test_words_that_deny_elsewhere_deny_nothing_here(slugs, said):
    assert slugs(said)[0] == "sum"


def test_a_page_of_denials_is_looked_at_no_longer_than_a_sentence():
    said = "not " * 1500
    assert len(negated_offsets(said, search_terms.text_tokens(said, limit=500))) < 100


def test_a_skill_whose_phrase_is_a_denial_is_asked_for_by_it(publish_skill, alice):
    publish_skill("gentle", description="x", triggers=Triggers(phrases=("don't panic", "不要慌")))
    for said in ("don't panic", "please: don't panic", "不要慌"):
        found = matching.match(matching.MatchQuery(said), Actor(user=alice)).rows
        assert [row.skill.slug for row in found] == ["gentle"], said
