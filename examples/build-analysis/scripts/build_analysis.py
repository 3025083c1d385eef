#!/usr/bin/env python3
"""A daily briefing on CI builds.

Request: {"action": "daily_briefing", "params": {"builds": [{"job": "unit", "passed": true, "seconds": 61}]}}
"""

import json
import sys
import time
from statistics import median

SAMPLE_DAY = [
    {"job": "unit", "passed": True, "seconds": 60},
    {"job": "unit", "passed": True, "seconds": 64},
    {"job": "unit", "passed": False, "seconds": 130},
    {"job": "package", "passed": True, "seconds": 20},
]


def daily_briefing(params):
    builds = params.get("builds", SAMPLE_DAY)
    factor = params.get("slow_factor", 1.5)
    jobs = {}
    for build in builds:
        jobs.setdefault(build["job"], []).append(build)
    failed = sorted({build["job"] for build in builds if not build["passed"]})
    slow = sorted(
        job for job, runs in jobs.items() if runs[-1]["seconds"] > factor * median(run["seconds"] for run in runs)
    )
    passed = sum(build["passed"] for build in builds)
    message = f"{passed} of {len(builds)} builds passed"
    data = {"builds": len(builds), "passed": passed, "failed_jobs": failed, "slower_jobs": slow}
    return {"success": True, "data": data, "message": message}


def main():
    began = time.monotonic()
    request = json.load(sys.stdin)
    action = request["action"]
    if action == "daily_briefing":
        result = daily_briefing(request.get("params", {}))
        spent = round((time.monotonic() - began) * 1000)
        result["metadata"] = {"execution_time_ms": spent, "items_count": result["data"]["builds"]}
        result["request_id"] = request.get("context", {}).get("request_id")
    else:
        result = {"success": False, "error": {"code": "UNKNOWN_ACTION", "message": action}}
    print(json.dumps(result, indent=2))


main()
