from __future__ import annotations

import pytest

from registry.core.search_terms import text_tokens
from registry.identity.actors import Actor
from registry.matching import match as matching
from registry.matching.match import MatchQuery
from registry.matching.ranking import MIN_CONFIDENCE
from registry.matching.sentences import SentenceForm, has_everyday_word, sentence_form, wording, wording_terms

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


@pytest.fixture
def ask(alice, publish_skill):
    publish_skill("departures", name="Timetable", description="Looks up when trains, buses and boats leave.")
    publish_skill("weekly", name="Weekly report", description="Writes a weekly report from notes.")
    publish_skill("invoice-sorter", description="Sorts invoices and receipts for reimbursement.")
    publish_skill("minutes", name="会议纪要", description="把会议录音整理成会议纪要。")
    return lambda text: matching.match(MatchQuery(text), Actor(user=alice)).rows


@pytest.mark.parametrize(
    "sentence",
    [
        "good morning, how are you",
        "okay, thanks, never mind",
        "who painted the wooden boat that hung above the fireplace when you were little",
        "早上好，谢谢",
        "好的，没问题，哈哈",
    ],
)
def test_sentence_that_no_skill_fits_is_answered_none(ask, sentence):
    assert not ask(sentence)


@pytest.mark.parametrize(
    ("request_text", "slug"),
    [
        ("when does the next boat leave", "departures"),
        ("boat", "departures"),
        ("sort these invoices and receipts", "invoice-sorter"),
        ("把刚才的会议录音整理一下", "minutes"),
        ("write the report of this week from my notes", "weekly"),
    ],
)
def test_request_that_a_skill_fits_is_answered(ask, request_text, slug):
    rows = ask(request_text)
    assert rows[0].skill.slug == slug
    assert rows[0].score >= MIN_CONFIDENCE


def test_everyday_word_is_no_request_unless_something_is_asked_for_it(publish_skill, alice):
    for number in range(30):
        publish_skill(f"other-{number}", description=f"Does the work of number {number}.")
    publish_skill("outfits", description="Chooses a pair of gloves and a scarf.")
    asked = ["where was a pair of gloves yesterday", "choose a pair of gloves"]
    assert [
        [row.skill.slug for row in matching.match(MatchQuery(text), Actor(user=alice)).rows] for text in asked
    ] == [[], ["outfits"]]


@pytest.mark.parametrize(
    ("text", "is_everyday"),
    [
        ("my sister feeds squirrels", True),
        ("the neighbour's Dogs", True),
        ("隔壁的猫", True),
        ("concatenate two files", False),
        ("合并两个文件", False),
    ],
)
def test_everyday_word_is_recognized(text, is_everyday):
    assert has_everyday_word(text) is is_everyday


def test_scores_fall_with_the_rank(ask):
    scores = [row.score for row in ask("write a weekly report about boats and invoices")]
    assert len(scores) > 2
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("my umbrella is gone, we had a party", SentenceForm.STATEMENT),
        ("昨天他们吵架了", SentenceForm.STATEMENT),
        ("why do cats purr", SentenceForm.GENERAL_QUESTION),
        ("埃菲尔铁塔有多高", SentenceForm.GENERAL_QUESTION),
        ("do all birds fly", SentenceForm.GENERAL_QUESTION),
        ("can owls swim", SentenceForm.GENERAL_QUESTION),
        ("can you swim", SentenceForm.OTHER),
        ("what year was the bridge built", SentenceForm.GENERAL_QUESTION),
        ("世界上最高的塔是哪座", SentenceForm.GENERAL_QUESTION),
        ("她买了三斤苹果", SentenceForm.STATEMENT),
        ("do all of our PDFs open", SentenceForm.OTHER),
        ("how far did I ride this month", SentenceForm.OTHER),
        ("我这半年的血压变化", SentenceForm.OTHER),
        ("the URLs changed", SentenceForm.OTHER),
        ("my queries are slow, make them faster", SentenceForm.INSTRUCTION),
        ("could you please turn off the lamp", SentenceForm.INSTRUCTION),
        ("I'd like to organise my notes", SentenceForm.INSTRUCTION),
        ("fine tune a model", SentenceForm.OTHER),
        ("这个报错了，帮我看看", SentenceForm.INSTRUCTION),
        ("看看主力是不是在出货", SentenceForm.INSTRUCTION),
        ("想戒咖啡", SentenceForm.INSTRUCTION),
        ("这把椅子坐着不舒服", SentenceForm.OTHER),
        ("我再想想", SentenceForm.OTHER),
    ],
)
def test_form_of_a_sentence_is_recognized(text, form):
    assert sentence_form(text, is_keywords=False) is form


@pytest.mark.parametrize(
    ("request_text", "small_talk"),
    [
        ("how many tickets are overdue", "how many whales are there"),
        ("is my invoice overdue", "is your cat sad"),
        ("检查一下配置文件", "昨晚没睡好"),
        ("服务器磁盘满了", "邻居家的狗真可爱"),
    ],
)
def test_wording_distinguishes_requests_from_small_talk(request_text, small_talk):
    assert wording(text_tokens(request_text)) > 0 > wording(text_tokens(small_talk))


def test_wording_is_that_of_words_pairs_and_the_ends_of_a_text():
    assert wording_terms(text_tokens("Show me me")) == ["show", "me", "show me", "me me", "^show", "me$"]
    assert wording_terms([]) == []
    assert wording([]) == 0
    assert wording(text_tokens("qwx zzkrp")) == 0


def test_words_after_the_start_of_a_long_text_do_not_change_its_wording():
    start = "summarize this report " * 20
    assert wording(text_tokens(start)) == wording(text_tokens(start + "grandma laughed"))


def test_word_of_small_talk_is_no_request_for_a_skill(publish_skill, alice):
    for number in range(30):
        publish_skill(f"other-{number}", description=f"Does the work of number {number}.")
    publish_skill("tides", description="Shows the height of the tide at any pier.")
    asked = ["a lovely pier, sweet dreams", "update the pier page"]
    assert [
        [row.skill.slug for row in matching.match(MatchQuery(text), Actor(user=alice)).rows[:1]]
        for text in asked
    ] == [[], ["tides"]]
