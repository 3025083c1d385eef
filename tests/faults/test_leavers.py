"""Access of people who leave a team or the site, in two web processes."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow("a whole site in processes"),
    pytest.mark.full,
    pytest.mark.faults,
    pytest.mark.row("P2"),
]
REQUESTS = 8  # each on a new connection, so that both processes serve some
BOB = """
from datetime import timedelta
from django.test import Client
from django.utils import timezone
from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import Membership, Scope, Team, User
import json
user = User.objects.create_user("bob", password="p", must_change_password=False)
team = Team.objects.get(slug="ops")
Membership.objects.create(team=team, user=user, role="maintainer")
until = timezone.now() + timedelta(days=1)
def issue(team):
    given = {"name": "t", "scopes": Scope.values, "expires_at": until, "team": team}
    return tokens.issue(user, **given, by=Actor(user=user))[1]
client = Client()
client.force_login(user)
print(json.dumps({
    "session": {"Cookie": "sessionid=" + client.cookies["sessionid"].value},
    "personal": {"Authorization": "Bearer " + issue(None)},
    "team": {"Authorization": "Bearer " + issue(team)},
}))
"""


@pytest.fixture
def site(make_site):
    site = make_site(SKILLQUAY_WEB_PROCESSES="2")
    site.start()
    site.publish("report", "print(1)", team="ops")
    return site


def statuses(site, headers, path):
    found = set()
    for _ in range(REQUESTS):
        request = urllib.request.Request(site.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                found.add(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                found.add(error.code)
    return found


def web_processes(site):
    """The processes below the web server's parent that listen for requests."""
    [parent] = site.pids("web")
    pids = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [pid for pid in pids if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_leaver_loses_access_in_every_process_at_the_first_request(site):
    credentials = json.loads(site.manage("shell", "--no-imports", "-c", BOB).stdout.splitlines()[-1])
    skill, me = "/api/v1/skills/ops/report", "/api/v1/me"

    def seen(path):
        return {name: statuses(site, headers, path) for name, headers in credentials.items()}

    site.wait_for(lambda: len(web_processes(site)) == 2)
    assert seen(skill) == {"session": {200}, "personal": {200}, "team": {200}}
    site.manage("api", "DELETE", "/api/v1/teams/ops/members/bob")
    assert seen(skill) == {"session": {404}, "personal": {404}, "team": {404}}
    assert seen(me) == {"session": {200}, "personal": {200}, "team": {200}}  # without a team
    site.manage("api", "POST", "/api/v1/users/bob/deactivate")
    assert seen(me) == {"session": {401}, "personal": {401}, "team": {401}}
