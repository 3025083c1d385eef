from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.matching import match as matching
from registry.matching.match import MatchQuery
from registry.matching.ranking import MatchTier
from registry.packages.package import Triggers

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def tier_of(alice, publish_skill):
    """The tier of ``greedy``, a skill with these triggers, for an utterance; None if it is missing."""

    def do(utterance, **triggers):
        publish_skill("greedy", description="x", body="y", triggers=Triggers(**triggers))
        rows = matching.match(MatchQuery(utterance), Actor(user=alice)).rows
        return next((row.tier for row in rows if row.skill.slug == "greedy"), None)

    return do


@pytest.mark.parametrize(
    "utterance", ["提醒", "提醒我", "提醒一下", "report", "weekly report"], ids=lambda text: text
)
def test_one_word_is_explicit_in_a_request_of_at_most_twice_its_length(tier_of, utterance):
    assert tier_of(utterance, phrases=("提醒", "report")) is MatchTier.EXPLICIT


@pytest.mark.parametrize("kind", ["phrases", "intents"])
@pytest.mark.parametrize("utterance", ["帮我设置一个提醒", "在 QQ 上每天提醒我喝水", "write a report"])
def test_one_word_is_not_explicit_in_a_long_request(tier_of, utterance, kind):
    assert tier_of(utterance, **{kind: ("提醒", "report")}) is not MatchTier.EXPLICIT


@pytest.mark.parametrize("phrase", ["提醒我", "做PPT", "weekly report"])
def test_more_than_one_word_is_explicit_in_a_long_request(tier_of, phrase):
    assert tier_of(f"明天早上八点在群里{phrase}好吗", phrases=(phrase,)) is MatchTier.EXPLICIT


def test_common_chinese_word_declared_by_another_skill_does_not_win_a_request(alice, publish_skill):
    publish_skill("contract-translator", name="Contracts", description="把合同翻译成英文。")
    publish_skill("squatter", description="x", triggers=Triggers(phrases=("合同", "翻译", "英文", "报告")))
    rows = matching.match(MatchQuery("请把这份采购合同翻译成英文"), Actor(user=alice)).rows
    assert rows[0].skill.slug == "contract-translator"
