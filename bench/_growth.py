"""Measures every page and endpoint with few and with many skills and runs, in a process with its own site."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gc
import json
import logging
import re
import sys
import time
from collections import defaultdict

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench._growth_site import Site, measured_runs
from registry.models import User
from tests.addresses import filled, routes

_OMITTED = ("api/docs/", "api/schema/", "styleguide/", "sign-out/", "account/export/", "api/v1/me/export")
_MATCH = "POST /api/v1/match"


def main():
    options = json.loads(sys.argv[1])
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    settings.SKILLQUAY_RATE_LIMITS = dict.fromkeys(settings.SKILLQUAY_RATE_LIMITS, 0)
    call_command("migrate", verbosity=0)
    is_kept = User.objects.exists()
    site = None if is_kept else Site(is_filled=options["fill"])
    measured = []
    for skills, runs in zip(options["skills"], options["runs"], strict=True):
        began = time.monotonic()
        if site:
            site.grow(skills, runs)
        seconds = time.monotonic() - began
        print(f"{skills} skills and {runs} runs created in {seconds:.0f} s", file=sys.stderr, flush=True)
        gc.collect()
        gc.freeze()
        if not options.get("in_turn"):
            measured.append(_measure(options))
    if options.get("in_turn"):
        _answer(options)
    else:
        print(json.dumps({"database": connection.vendor, "measured": measured}))


def _measure(options):
    """User, path, CPU milliseconds and number of queries of each URL that responds with content."""
    return [
        (who, path, *cost)
        for who, client, path in _addresses(options)
        if (cost := _cost(client, path, options["rounds"]))
    ]


def _answer(options):
    """Prints users and paths, then for each index on a line of standard input the cost of one request."""
    addresses = _addresses(options)
    print(json.dumps([(who, path) for who, _client, path in addresses]), flush=True)
    first = None
    for line in sys.stdin:
        _who, client, path = addresses[int(line)]
        if first is None or first[0] != line:  # its status and number of queries
            first = line, _cost(client, path, 0)
        cost = first[1] and (round(_timed(client, path), 2), first[1][1])
        print(json.dumps(cost), flush=True)


def _addresses(options):
    clients, paths = _clients(), [path for path in _paths() if re.search(options["only"], path)]
    return [(who, client, path) for who, client in clients.items() for path in paths]


def _cost(client, path, rounds):
    if _request(client, path).status_code != 200:
        return None
    with CaptureQueriesContext(connection) as queries:
        _request(client, path).getvalue()
    number = len(queries)  # the next request clears the list
    return round(min((_timed(client, path) for _ in range(rounds)), default=0), 2), number


def _request(client, path):
    if path == _MATCH:
        body = {"utterance": "word7 and word9"}
        return client.post("/api/v1/match", json.dumps(body), content_type="application/json")
    return client.get(path)


def _timed(client, path):
    """CPU milliseconds of this process, which include SQLite; with PostgreSQL, wall time."""
    clock = time.perf_counter if connection.vendor == "postgresql" else time.process_time
    began = clock()
    _request(client, path).getvalue()
    return (clock() - began) * 1000


def _clients():
    found = {"anonymous": Client(), "member": Client(), "administrator": Client()}
    for name in ("member", "administrator"):
        user = User.objects.get(username=name)
        found[name].force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return found


def _paths():
    run, other = measured_runs()
    values = defaultdict(lambda: "none")
    values |= {"team": "team0", "slug": "weekly-report", "number": "1.2.0", "path": "SKILL.md"}
    values |= {"before": "1.1.0", "after": "1.2.0", "uid": run.uid, "other": other.uid}
    values["username"] = "member"
    for route in routes():
        if route not in _OMITTED and not route.startswith(("static/", "hooks/", "-/", "site/sandbox")):
            own = values | ({"slug": "team0"} if route.startswith("teams/") else {})
            yield "/" + filled(route, own)
    yield from (
        "/skills/?q=word7+word9",
        "/skills/?page=2",
        "/skills/?sort=newest",
        "/skills/?team=team0",
        "/api/v1/search?q=word7+word9",
        _MATCH,
        "/api/v1/search?q=word300+word301",
        "/clawhub/api/v1/search?q=word7+word9",
        "/npm/-/v1/search?text=word7+word9",
        "/api/search?q=word7",
        "/teams/?q=team1",
        "/runs/?page=2",
        "/api/v1/skills?limit=20",
        "/api/v1/skills?limit=20&sort=score",
        "/api/v1/skills?team=team0",
        "/skills/match/test/?q=word7+word9",
        "/find/?q=word7",
        "/runs/?status=failed",
        "/runs/?team=team0",
        "/runs/?skill=team0/weekly-report",
        "/runs/?status=waiting_approval",
        "/api/v1/runs?status=failed",
        "/api/v1/runs?skill=team0/weekly-report",
        "/api/v1/runs?team=team0",
        "/api/v1/approvals?state=decided",
    )


if __name__ == "__main__":
    main()
