from __future__ import annotations

import subprocess
import sys

import pytest

from registry.identity.actors import Actor
from registry.index.pinyin import pinyin_terms
from registry.matching.match import MatchQuery, match
from registry.search.query import search

pytestmark = pytest.mark.row("P4")


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("发票整理", "fapiao"),
        ("重庆银行", "yinhang"),
        ("重庆", "chongq"),
        ("合同摘要助手", "hetongzhaiyaozhushou"),
    ],
)
def test_words_and_whole_names_have_pinyin(text, pinyin):
    assert pinyin in list(pinyin_terms(text))


def test_single_characters_and_other_scripts_have_none():
    assert list(pinyin_terms("票 report カタカナ")) == []


def test_pypinyin_is_not_imported_without_a_chinese_name():
    code = (
        "import sys; from registry.index.pinyin import pinyin_terms; list(pinyin_terms('report 票'));"
        "sys.exit('pypinyin' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["fapiao", "FAPIAO", "發票", "baoxiao"])
def test_skill_is_found_by_pinyin_and_by_traditional_characters(publish_skill, alice, query):
    publish_skill("receipts", name="发票整理", description="x", tags=("报销",))
    publish_skill("weekly", name="Weekly report", description="Writes a weekly report.")
    actor = Actor(user=alice)
    assert [row.skill.slug for row in search(query, actor).hits] == ["receipts"]
    assert [row.skill.slug for row in match(MatchQuery(query), actor).rows] == ["receipts"]
