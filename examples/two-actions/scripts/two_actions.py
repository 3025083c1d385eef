#!/usr/bin/env python3
"""Two actions behind one door: {"action": …, "params": {…}} in, {"success": …, "data": {…}} out."""

import json
import sys


def greet(params):
    return {"success": True, "data": {"greeting": f"Hello, {params.get('name', 'world')}"}}


def add(params):
    numbers = params.get("numbers")
    if not isinstance(numbers, list):
        return failure("MISSING_PARAM", "numbers must be a list")
    return {"success": True, "data": {"sum": sum(numbers)}, "metadata": {"items_count": len(numbers)}}


ACTIONS = {"action_1": greet, "action_2": add}


def failure(code, message, **more):
    return {"success": False, "error": {"code": code, "message": message, **more}}


def answer(text):
    try:
        request = json.loads(text)
    except json.JSONDecodeError as error:
        return failure("INVALID_JSON", f"the request is not JSON: {error}")
    action = request.get("action")
    if action not in ACTIONS:
        return failure("UNKNOWN_ACTION", f"unknown action: {action}", supported_actions=["action_1", "action_2"])
    try:
        return {**ACTIONS[action](request.get("params") or {}), "action": action}
    except Exception as error:
        return failure("INTERNAL_ERROR", str(error))


result = answer(sys.stdin.read())
print(json.dumps(result, ensure_ascii=False, indent=2))
sys.exit(result.get("error", {}).get("code") in ("INVALID_JSON", "INTERNAL_ERROR"))
