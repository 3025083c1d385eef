"""The bodies for chat systems, as golden files, and their signatures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker.delivery.sending import formats
from worker.delivery.sending.messages import Item, Message

pytestmark = pytest.mark.row("P6")
GOLDEN = Path(__file__).with_name("golden")
URL = "https://skills.example/runs/01kajq3s5d8m6v9x2c4b7n1p0z/"
ITEMS = (
    Item("docs/summarise failed", "Run #12, version 1.3.0: SCRIPT_FAILED", URL),
    Item("计划“<每日> *报告* [x](y)”错过了运行", "", "https://skills.example/schedules/01kb/"),
)
MESSAGE = Message("01kajq3s5d8m6v9x2c4b7n1p0z", "2 notifications & more", ITEMS, {})
BODIES = {
    "slack": formats.slack(MESSAGE),
    "teams": formats.teams(MESSAGE),
    "feishu": formats.feishu(MESSAGE, "bot-secret", 1_700_000_000),
    "dingtalk": formats.dingtalk(MESSAGE),
}


@pytest.mark.parametrize("channel", BODIES)
def test_chat_body_equals_its_golden_file(channel):
    expected = json.loads((GOLDEN / f"{channel}.json").read_text())
    assert BODIES[channel] == expected


def test_signatures_equal_those_of_another_program():
    """The expected signatures come from ``openssl dgst``, by the algorithms that both systems publish."""
    assert BODIES["feishu"]["sign"] == "9nxw44BYFqLId3YDAt3hLwRtcLlmdqIxMtemCu1LJXk="
    assert "sign" not in formats.feishu(MESSAGE)
    url = formats.dingtalk_url("https://oapi.example/send?access_token=t", "bot-secret", 1_700_000_000_003)
    sign = "bc%2BzUWagqyH2RZFgZaD8ka%2FBsLIvQi8XGv9WmgPjLRw%3D"
    assert url == f"https://oapi.example/send?access_token=t&timestamp=1700000000003&sign={sign}"
    assert formats.dingtalk_url("https://x.example/?a=b", "", 1) == "https://x.example/?a=b"
