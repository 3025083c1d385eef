"""Cron expressions in words, in both languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils.translation import override

from portal.presenters.content.cron import cron_words
from registry.packages.problems import Refusal
from worker.schedules.timing import checked_timing

pytestmark = pytest.mark.row("B7", "P8")


@pytest.mark.parametrize(
    ("expression", "english", "chinese"),
    [
        ("* * * * *", "Every minute", "每 1 分钟"),
        ("*/15 * * * *", "Every 15 minutes", "每 15 分钟"),
        ("5 * * * *", "Every hour at minute 5", "每小时的第 5 分钟"),
        (
            "0 */6 * * *",
            "Every 6 hours from midnight, at minute 0",
            "从零点起每 6 小时一次，在该小时的第 0 分钟",
        ),
        ("30 8 * * *", "Every day at 08:30", "每天 08:30"),
        ("0 9,18 * * *", "Every day at 09:00, 18:00", "每天 09:00、18:00"),
        ("0 9 * * 1-5", "Monday to Friday at 09:00", "星期一至星期五 09:00"),
        ("0 9 * * mon,thu", "Monday, Thursday at 09:00", "星期一、星期四 09:00"),
        ("0 9 * * 0", "Sunday at 09:00", "星期日 09:00"),
        ("0 9 * * 7", "Sunday at 09:00", "星期日 09:00"),
        ("0 6 1 * *", "On day 1 of each month at 06:00", "每月 1 日 06:00"),
        ("0 6 24 12 *", "Every year on December 24 at 06:00", "每年十二月 24 日 06:00"),
    ],
)
def test_common_expression_has_words(expression, english, chinese):
    assert cron_words(expression) == english
    with override("zh-hans"):
        assert cron_words(expression) == chinese


@pytest.mark.parametrize(
    "expression",
    [
        "*/7 * * * *",
        "*/0 * * * *",
        "0 */5 * * *",
        "0 9 1 * 1",
        "0 9 L * *",
        "0 9 * * 5#2",
        "0 9 * * 9",
        "0-5 9 * * *",
        "0 1,2,3,4,5 * * *",
        "0 9 1 13 *",
        "61 * * * *",
        "60 9 * * *",
        "0 24 * * *",
        "0 6 31 2 *",
        "0 9 * 1 *",
        "0 9 * * 1-3-5",
        "x",
        "",
        "0 9 * * * *",
    ],
)
def test_other_expression_has_no_words(expression):
    assert cron_words(expression) == ""


@pytest.mark.parametrize(
    ("expression", "english", "chinese"),
    [
        ("61 * * * *", "minute is not valid (must be 0 to 59)", "“分钟”字段无效（应为 0 至 59）"),
        ("0 24 * * *", "hour is not valid (must be 0 to 23)", "“小时”字段无效（应为 0 至 23）"),
        ("0 0 31 2 *", "day of month is not valid (must be 1 to 31", "“日期”字段无效（应为 1 至 31"),
        ("0 0 1 13 *", "month is not valid (must be 1 to 12", "“月份”字段无效（应为 1 至 12"),
        ("0 0 * * 8", "day of week is not valid (must be 0 to 7", "“星期”字段无效（应为 0 至 7"),
        ("0 0 * *", "five fields", "需要五个字段"),
    ],
)
def test_invalid_expression_is_explained_in_both_languages(expression, english, chinese):
    for language, text in (("en", english), ("zh-hans", chinese)):
        with override(language), pytest.raises(Refusal) as refused:
            checked_timing(now=datetime(2026, 1, 1, tzinfo=UTC), cron=expression, time_zone="UTC")
        with override(language):
            assert text in str(refused.value.problems[0].message)
