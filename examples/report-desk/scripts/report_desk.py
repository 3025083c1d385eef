#!/usr/bin/env python3
"""Orders fetched, analysed, reported and filed.

Request: {"action": "full", "params": {"type": "daily", "format": "markdown"}}
"""

import hashlib
import json
import logging
import os
import signal
import sys
from pathlib import Path

SECONDS = 60
DEBUG = os.getenv("SKILL_DEBUG") == "1"
ORDERS = [
    {"day": 1, "product": "green tea", "amount": 30},
    {"day": 2, "product": "black tea", "amount": 45},
    {"day": 9, "product": "coffee", "amount": 80},
]
log = logging.getLogger("report-desk")


class Refusal(Exception):
    """An answer with success false: code, message, details."""

    def __init__(self, code, message, **details):
        super().__init__(message)
        self.code, self.details = code, details


def choice(params, name, allowed, default=None):
    value = params.get(name, default)
    if value is None:
        raise Refusal("MISSING_PARAM", f"{name} is required", allowed=allowed)
    if value not in allowed:
        raise Refusal("INVALID_PARAM", f"{name} must be one of {', '.join(allowed)}", given=value)
    return value


def fetch(params):
    if params.get("source") == "warehouse":
        raise Refusal("PERMISSION_DENIED", "the warehouse is not open to this skill")
    if params.get("source") == "supplier":
        raise Refusal("EXTERNAL_SERVICE_ERROR", "the supplier cannot be reached from here")
    choice(params, "source", ["orders"])
    items = [order for order in ORDERS if params.get("query", "") in order["product"]]
    if not items:
        raise Refusal("DATA_NOT_FOUND", "no order fits the query", query=params["query"])
    return {"items": items, "count": len(items)}


def analyze(params):
    choice(params, "target", ["orders"])
    days = params.get("days", 7)
    if not isinstance(days, int) or not 1 <= days <= 366:
        raise Refusal("INVALID_PARAM", "days must be from 1 to 366", given=days)
    amounts = [order["amount"] for order in ORDERS if order["day"] <= days]
    insight = f"{len(amounts)} orders in {days} days"
    return {"insights": [insight], "metrics": {"orders": len(amounts), "total": sum(amounts)}}


def report(params):
    kind = choice(params, "type", ["daily", "weekly"])
    form = choice(params, "format", ["markdown", "json"], "markdown")
    metrics = analyze({"target": "orders", "days": 1 if kind == "daily" else 7})["metrics"]
    lines = [f"# The {kind} report", "", *(f"- {name}: {value}" for name, value in metrics.items()), ""]
    content = "\n".join(lines) if form == "markdown" else json.dumps(metrics)
    path = folder(params) / f"{kind}.{'md' if form == 'markdown' else 'json'}"
    path.write_text(content, encoding="utf-8")
    return {"report_path": str(path), "content": content}


def push(params):
    choice(params, "destination", ["outbox"])
    if "data" not in params:
        raise Refusal("MISSING_PARAM", "data is required")
    text = json.dumps(params["data"], sort_keys=True)
    identity = hashlib.sha256(text.encode()).hexdigest()[:12]
    (folder(params) / f"outbox-{identity}.json").write_text(text, encoding="utf-8")
    return {"pushed": True, "id": identity}


def full(params):
    where = {"output_dir": params.get("output_dir", "/tmp")}
    progress(0)
    fetched = fetch({"source": "orders"})
    progress(25)
    analyzed = analyze({"target": "orders", "days": 7})
    progress(50)
    reported = report({"type": "weekly", **params})
    progress(75)
    pushed = push({"destination": "outbox", "data": analyzed["metrics"], **where})
    progress(100)
    return {"fetch": fetched["count"], "analyze": analyzed["metrics"], "report": reported, "push": pushed}


ACTIONS = {"fetch": fetch, "analyze": analyze, "report": report, "push": push, "full": full}


def folder(params):
    return Path(params.get("output_dir", "/tmp"))


def progress(percent):
    print(f"{percent}% complete", file=sys.stderr, flush=True)


def out_of_time(_signal, _frame):
    raise Refusal("TIMEOUT", f"not done within {SECONDS} seconds")


def answer(request):
    action = request.get("action")
    log.debug("request: %s", request)
    try:
        if action not in ACTIONS:
            supported = {"supported_actions": ["fetch", "analyze", "report", "push", "full"]}
            raise Refusal("UNKNOWN_ACTION", f"unknown action: {action}", **supported)
        return {"success": True, "action": action, "data": ACTIONS[action](request.get("params", {}))}
    except Refusal as no:
        error = {"code": no.code, "message": str(no), "details": no.details}
        return {"success": False, "action": action, "error": error}


def main():
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG if DEBUG else logging.INFO, format="%(message)s")
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(SECONDS)
    try:
        print(json.dumps(answer(json.load(sys.stdin)), ensure_ascii=False))
    finally:
        signal.alarm(0)


main()
