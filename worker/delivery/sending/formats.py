"""Builds the request bodies and signatures for webhooks and chat systems, without side effects."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from worker.delivery.sending.messages import Item, Message

_MAX_BLOCKS = 20  # limit of notifications in a chat message, because Slack refuses more than 50 blocks
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|<>~])")


def webhook_headers(id: str, body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """The headers that sign a webhook with HMAC-SHA256 over ``timestamp.id.body``.

    Incoming webhooks use the same signature.
    """
    signed = f"{timestamp}.{id}.".encode() + body
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{_hmac(secret.encode(), signed)}",
    }


def slack(message: Message) -> dict[str, Any]:
    """A message with blocks, for an incoming webhook of Slack."""

    def block(item: Item) -> dict[str, Any]:
        text = f"*<{item.url}|{_slack_text(item.title)}>*\n{_slack_text(item.line)}"
        return {"type": "section", "text": {"type": "mrkdwn", "text": text.strip()}}

    return {
        "text": _slack_text(message.title),
        "blocks": [block(item) for item in message.items[:_MAX_BLOCKS]],
    }


def teams(message: Message) -> dict[str, Any]:
    """A message with an Adaptive Card, for a workflow or an incoming webhook of Microsoft Teams."""

    def blocks(item: Item) -> list[dict[str, Any]]:
        link = f"[{_markdown(item.title)}]({item.url})"
        title = {"type": "TextBlock", "text": link, "weight": "Bolder", "wrap": True}
        line = {"type": "TextBlock", "text": _markdown(item.line), "isSubtle": True, "wrap": True}
        return [title, line] if item.line else [title]

    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [block for item in message.items[:_MAX_BLOCKS] for block in blocks(item)],
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "contentUrl": None, "content": card}]}


def feishu(message: Message, secret: str = "", timestamp: int = 0) -> dict[str, Any]:
    """A card for a custom bot of Feishu, signed if the bot has a secret. As Feishu requires, the key is
    ``timestamp\\nsecret`` and the signed text is empty.
    """

    def elements(item: Item) -> list[dict[str, Any]]:
        text = {"tag": "plain_text", "content": f"{item.title}\n{item.line}".strip()}
        return [{"tag": "div", "text": text}, {"tag": "action", "actions": [_feishu_button(item)]}]

    card = {
        "header": {"title": {"tag": "plain_text", "content": message.title}},
        "elements": [part for item in message.items[:_MAX_BLOCKS] for part in elements(item)],
    }
    signed: dict[str, Any] = {}
    if secret:
        signed = {"timestamp": str(timestamp), "sign": _hmac(f"{timestamp}\n{secret}".encode(), b"")}
    return {**signed, "msg_type": "interactive", "card": card}


def dingtalk(message: Message) -> dict[str, Any]:
    """A Markdown message for a custom robot of DingTalk."""
    lines = [
        f"#### [{_markdown(item.title)}]({item.url})\n\n{_markdown(item.line)}".strip()
        for item in message.items[:_MAX_BLOCKS]
    ]
    return {"msgtype": "markdown", "markdown": {"title": message.title, "text": "\n\n".join(lines)}}


def dingtalk_url(url: str, secret: str, timestamp_ms: int) -> str:
    """The robot's URL, with ``timestamp`` and ``sign`` if the robot has a secret."""
    if not secret:
        return url
    sign = _hmac(secret.encode(), f"{timestamp_ms}\n{secret}".encode())
    parts = urlsplit(url)
    query = [
        *parse_qsl(parts.query, keep_blank_values=True),
        ("timestamp", str(timestamp_ms)),
        ("sign", sign),
    ]
    return parts._replace(query=urlencode(query)).geturl()


CHAT_BODIES: dict[str, Callable[[Message], dict[str, Any]]] = {
    "slack": slack,
    "teams": teams,
    "dingtalk": dingtalk,
}


def _feishu_button(item: Item) -> dict[str, Any]:
    label = {"tag": "plain_text", "content": item.url}
    return {"tag": "button", "text": label, "type": "default", "url": item.url}


def _hmac(key: bytes, text: bytes) -> str:
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


def _slack_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
