#!/usr/bin/env python3
"""Average and trend of the last values of a series."""

import json
import sys


def analyze(params):
    days = params.get("days", 7)
    if not isinstance(days, int) or days < 1:
        return {"success": False, "error": {"code": "INVALID_PARAM", "message": "days must be at least 1"}}
    values = params.get("values", [84, 85, 87])[-days:]
    if not values:
        return {"success": False, "error": {"code": "DATA_NOT_FOUND", "message": "there are no values"}}
    half = len(values) // 2
    change = sum(values[-half:]) / half - sum(values[:half]) / half if half else 0
    trend = "improving" if change > 0 else "declining" if change < 0 else "stable"
    average = round(sum(values) / len(values), 2)
    return {"success": True, "data": {"average": average, "trend": trend, "days_analyzed": len(values)}}


def main():
    request = json.load(sys.stdin)
    action = request.get("action")
    if action == "analyze":
        result = analyze(request.get("params", {}))
    else:
        result = {"success": False, "error": {"code": "UNKNOWN_ACTION", "message": f"unknown action: {action}"}}
    print(json.dumps(result))


main()
