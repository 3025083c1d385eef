"""The bodies for chat systems, as golden files, and their signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

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


def signed(key, text):
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


def test_signatures_follow_each_system():
    assert BODIES["feishu"]["sign"] == signed(b"1700000000\nbot-secret", b"")
    assert "sign" not in formats.feishu(MESSAGE)
    url = formats.dingtalk_url("https://oapi.example/send?access_token=t", "bot-secret", 1_700_000_000_000)
    query = parse_qs(urlsplit(url).query)
    assert query["sign"] == [signed(b"bot-secret", b"1700000000000\nbot-secret")]
    assert (query["access_token"], query["timestamp"]) == (["t"], ["1700000000000"])
    assert formats.dingtalk_url("https://x.example/?a=b", "", 1) == "https://x.example/?a=b"
