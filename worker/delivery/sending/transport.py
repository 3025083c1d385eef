"""Sends one message over HTTP or SMTP, and reads whether the receiver accepted it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from registry.http_client import fetch as outbound
from registry.packages.problems import Refusal
from worker.delivery.sending import formats
from worker.delivery.sending.messages import Message

ID_HEADER = "Skillquay-Delivery"
TIMEOUT_S = 5.0
_MAX_ANSWER_BYTES = 65_536
_EXCERPT = 500


@dataclass(frozen=True)
class SendTarget:
    """The target of a message, with the address and secret in plain text."""

    channel: str
    address: str
    secret: str = ""


@dataclass(frozen=True)
class SendResult:
    """The outcome of one attempt; ``error`` is empty if the receiver accepted the message."""

    error: str = ""
    status: int | None = None
    excerpt: str = ""


def send(message: Message, to: SendTarget) -> SendResult:
    """Sends the message once. Returns network errors and refusals as results instead of raising them."""
    try:
        return _mail(message, to.address) if to.channel == "email" else _post(message, to)
    except Refusal as refused:
        return SendResult(refused.code)


def _post(message: Message, to: SendTarget) -> SendResult:
    url, now = to.address, time.time()
    headers = {"content-type": "application/json; charset=utf-8", ID_HEADER: message.id}
    if to.channel == "feishu":
        body = _json(formats.feishu(message, to.secret, int(now)))
    elif to.channel in formats.CHAT_BODIES:
        body = _json(formats.CHAT_BODIES[to.channel](message))
        if to.channel == "dingtalk":
            url = formats.dingtalk_url(url, to.secret, int(now * 1000))
    else:
        body = _json(message.document)
        headers["content-type"] = "application/json"
        headers |= formats.webhook_headers(message.id, body, to.secret, int(now))
    answer = outbound.fetch(
        url,
        method="POST",
        headers=headers,
        body=body,
        limit=_MAX_ANSWER_BYTES,
        timeout=TIMEOUT_S,
        follow=False,
    )
    excerpt = answer.body.decode(errors="replace").replace("\0", "")[:_EXCERPT]
    if not 200 <= answer.status < 300:
        return SendResult(f"HTTP {answer.status}", answer.status, excerpt)
    return SendResult(_chat_error(to.channel, answer.body), answer.status, excerpt)


def _chat_error(channel: str, body: bytes) -> str:
    """The error in a response of Feishu or DingTalk; otherwise "".

    These services refuse messages with status 200 and an error code in the body.
    """
    field = {"feishu": "code", "dingtalk": "errcode"}.get(channel)
    try:
        document = json.loads(body) if field else {}
    except ValueError:
        return ""
    code = document.get(field) if isinstance(document, dict) else None
    return f"{channel} {str(code)[:100]}" if code else ""


def _mail(message: Message, address: str) -> SendResult:
    if not settings.EMAIL_HOST:
        return SendResult("MAIL_NOT_CONFIGURED")
    if not address:
        return SendResult("SUBSCRIPTION_EMAIL_MISSING")
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ") or "localhost"
    headers = {ID_HEADER: message.id, "Message-ID": f"<{message.id}@{domain}>"}
    lines = "\n\n".join("\n".join(filter(None, (each.title, each.line, each.url))) for each in message.items)
    subject = " ".join(message.title.split())[:200]
    mail = EmailMessage(subject, f"{lines}\n", to=[address], headers=headers)
    try:
        get_connection(timeout=TIMEOUT_S).send_messages([mail])
    except (OSError, ValueError) as error:  # SMTP errors are OSErrors
        code = getattr(error, "smtp_code", None)
        return SendResult(f"SMTP {code}" if code else type(error).__name__)
    return SendResult()


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()
