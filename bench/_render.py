"""Measures CPU time and memory of all pages of hostile packages and runs, in its own site."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import logging
import sys

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.test import Client

from registry.models import Membership, Role, Team, User
from tests import measuring
from tests.factories.heavy_content import PACKAGES, RUNS, make_heavy_run, publish_heavy
from tests.factories.skills import publish_files, tidy_files


def main():
    wanted = json.loads(sys.argv[1])["kinds"]
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    user, second = (User.objects.create_user(name) for name in ("bench", "second"))
    client = Client()
    client.force_login(user)
    version = publish_files(tidy_files(), team=_team("runs", user), user=user)
    client.get("/skills/match/test/?q=warm")
    rows = []
    for number, kind in enumerate(PACKAGES):
        if not wanted or kind in wanted:
            heavy = publish_heavy(kind, team=_team(f"t{number}", user), user=user)
            rows += _costs(client, kind, measuring.package_pages(heavy))
    for kind in RUNS:
        if not wanted or kind in wanted:
            one, other = (make_heavy_run(kind, version, each, version.skill.team) for each in (user, second))
            rows += _costs(client, kind, measuring.run_pages(one, other))
            version.skill.runs.all().delete()
    print(json.dumps(rows))


def _team(slug, user):
    team = Team.objects.create(slug=slug, name=slug)
    Membership.objects.create(team=team, user=user, role=Role.OWNER)
    return team


def _costs(client, kind, paths):
    costs = [measuring.cpu_cost(client, path) for path in paths]
    return [
        {
            "kind": kind,
            "path": cost.path,
            "cpu_ms": cost.cpu_ms,
            "memory_mb": measuring.memory_mb(client, cost.path),
        }
        for cost in costs
        if cost.status == 200
    ]


if __name__ == "__main__":
    main()
