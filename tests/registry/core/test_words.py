from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core import search_terms

pytestmark = pytest.mark.row("P4")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Release notes", ["releas", "note"]),
        ("release-notes_v2", ["releas", "note", "v2"]),
        ("createReport", ["createreport", "creat", "report"]),
        ("ＰＤＦ　ｔｏｏｌｓ", ["pdf", "tool"]),
        ("Résumé", ["resum"]),
        ("总结报告", ["总", "结", "报", "告", "总结", "结报", "报告"]),
        ("报", ["报"]),
        ("导出PDF报告", ["导", "出", "导出", "pdf", "报", "告", "报告"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ", "カタ", "タカ", "カナ"]),
        ("k8s S3 C++", ["k8s", "s3", "c"]),
        ("", []),
        ("… — !?", []),
    ],
)
def test_a_text_is_cut_into_terms(text, terms):
    assert list(search_terms.terms(text)) == terms


@pytest.mark.parametrize(
    "family",
    [
        ["report", "reports", "Report", "REPORTS", "reporting", "reported"],
        ["summary", "summaries"],
        ["translate", "translates", "translating", "translated", "translation", "translator"],
        ["run", "runs", "running"],
        ["process", "processes", "processing", "processed"],
        ["match", "matches", "matching"],
        ["box", "boxes"],
        ["code", "codes", "coding", "coded"],
        ["plan", "plans", "planning", "planned", "planner"],
        ["plane", "planes"],
        ["write", "writes", "writing", "writer"],
        ["scrape", "scraping", "scraped", "scraper"],
        ["add", "adds", "adding", "added"],
        ["log", "logs", "logging", "logged", "logger"],
        ["manage", "manages", "managing", "manager", "management"],
        ["edit", "editing", "edited", "editor"],
        ["embed", "embedding", "embedded"],
        ["suit", "suits", "suited"],
        ["accord", "accords"],
    ],
)
def test_the_forms_of_a_word_are_one_term(family):
    assert len({search_terms.stem(form) for form in family}) == 1


@pytest.mark.parametrize(
    "word", ["status", "analysis", "news", "red", "speed", "string", "class", "bus", "3ds", "thing"]
)
def test_a_word_that_only_looks_like_a_form_keeps_its_own(word):
    others = ["statu", "analysi", "spe", "str", "clas", "bu", "3d", "th"]
    assert search_terms.stem(word) not in others


@pytest.mark.parametrize(
    "words",
    ["suit suite", "suits suites", "accord according", "plan plane", "new news", "even evening", "ad adding"],
)
def test_different_words_are_different_terms(words):
    one, other = words.split()
    assert search_terms.stem(one) != search_terms.stem(other)


@pytest.mark.parametrize(
    ("traditional", "simplified"), [("發票", "发票"), ("軟體開發", "软体开发"), ("皇后與後端", "皇后与后端")]
)
def test_traditional_characters_have_the_terms_of_simplified_ones(traditional, simplified):
    assert list(search_terms.terms(traditional)) == list(search_terms.terms(simplified))
    assert [(each.start, each.end) for each in search_terms.text_tokens(traditional)] == [
        (at, at + 1) for at in range(len(traditional))
    ]


def test_the_place_of_a_word_holds_the_accents_that_are_written_apart():
    text = "\U0001f600 re\u0301sume\u0301 天\u0301气, x\u0301"
    said = ["re\u0301sume\u0301", "天\u0301", "气", "x\u0301"]
    assert [text[each.start : each.end] for each in search_terms.text_tokens(text)] == said
    found = {word.term: text[word.start : word.end] for word in search_terms.query_words(text)}
    assert found == {"resum": said[0], "天气": "天\u0301气", "x": said[3]}


def test_words_of_a_query_say_where_they_stand():
    query = "生成ＰＤＦ  weekly Reports"
    found = search_terms.query_words(query)
    assert [(word.term, query[word.start : word.end]) for word in found] == [
        ("生成", "生成"),
        ("pdf", "ＰＤＦ"),
        ("week", "weekly"),
        ("report", "Reports"),
    ]


def test_lone_characters_and_empty_words_are_asked_for_only_where_there_is_nothing_else():
    assert [word.term for word in search_terms.query_words("how to 写 a 报告")] == ["报告"]
    assert [word.term for word in search_terms.query_words("写")] == ["写"]
    assert [word.term for word in search_terms.query_words("how to")] == ["how", "to"]


def test_only_the_last_word_may_be_a_beginning():
    assert [word.prefix_term for word in search_terms.query_words("weekly rep")] == ["", "rep*"]
    assert [word.prefix_term for word in search_terms.query_words("weekly rep ")] == ["", ""]


def test_the_beginnings_of_a_name_are_its_words_cut_short():
    assert set(search_terms.prefixes("Data 报告")) == {"da*", "dat*"}
    assert {"cre*", "createre*", "repo*"} <= set(search_terms.prefixes("createReport"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Release Notes", "release-notes"), ("PDF 工具", "pdf工具 "), ("Ａ-b_C", "a b c"), ("Café", "cafe")],
)
def test_names_that_read_the_same_have_one_key(one, other):
    assert search_terms.name_key(one) == search_terms.name_key(other)


@given(st.text(max_size=200))
def test_any_text_at_all_is_cut_the_same_way_twice_and_fits_its_column(text):
    found = list(search_terms.terms(text))
    assert found == list(search_terms.terms(text))
    assert all(0 < len(term) < 64 and "\0" not in term for term in found)
    for word in search_terms.query_words(text):
        assert 0 <= word.start < word.end <= len(text)
        assert word.term in found or word.term in search_terms.terms(text[word.start : word.end])
