"""Measures MCP calls in a process with its own catalog."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gc
import json
import sys
import time
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from registry.identity import tokens
from registry.identity.actors import Actor
from registry.models import File, Membership, Role, Scope, Skill, Team, User, Version, Visibility
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish

_AT_ONCE = 1_000
_WARM_UP = 5


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    member = User.objects.create(username="member")
    with transaction.atomic():
        _fill(member, options["skills"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    import portal.urls  # noqa: F401 - loads all pages, as portal.asgi does

    gc.collect()
    gc.freeze()
    until = timezone.now() + timedelta(days=1)
    secret = tokens.issue(member, name="b", scopes=list(Scope), expires_at=until, by=Actor(user=member))[1]
    callers = {"member": {"Authorization": f"Bearer {secret}"}, "anonymous": {}}
    times = {name: _times(headers, options["rounds"]) for name, headers in callers.items()}
    print(json.dumps({"database": connection.vendor, "skills": Skill.objects.count(), "times": times}))


def _fill(member, size):
    """Creates ``size`` public skills of two teams with the files of one package. The member belongs to one
    team.
    """
    teams = [Team.objects.create(slug=f"bench-{number}", name="Bench") for number in range(2)]
    Membership.objects.create(team=teams[0], user=member, role=Role.OWNER)
    head = b"---\nname: skill\ndescription: Writes a report about a table.\nversion: 1.0.0\n---\n# Skill\n"
    files = [("SKILL.md", head), ("scripts/run.py", b"print(1)\n"), ("references/more.md", b"# More\n")]
    actor = Actor(user=member)
    model = publish(read_files(files), team=teams[0], actor=actor, visibility=Visibility.PUBLIC).version
    model_files = list(model.files.values("path", "size", "digest", "is_text"))
    for first in range(1, size, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, size))
        skills = Skill.objects.bulk_create(
            Skill(team=teams[number % 2], slug=f"skill-{number}", name=f"Skill {number}",
                  description=model.skill.description, visibility=Visibility.PUBLIC, search_scope="public",
                  usage_count=number % 50, hot_key=float(number % 50))
            for number in numbers
        )  # fmt: skip
        versions = Version.objects.bulk_create(
            Version(skill=skill, number="1.0.0", precedence=model.precedence, digest=model.digest,
                    archive_size=model.archive_size, profile=model.profile, manifest=model.manifest, body="")
            for skill in skills
        )  # fmt: skip
        for skill, version in zip(skills, versions, strict=True):
            skill.latest = version
        Skill.objects.bulk_update(skills, ["latest"])
        File.objects.bulk_create(File(version=version, **row) for version in versions for row in model_files)


def _times(headers, rounds):
    """The milliseconds of each call by name; the calls take turns."""
    calls = {
        "skills_list": _tool("skills_list", {}),
        "skills_load by id": _tool("skills_load", {"name": "bench-0/skill-500"}),
        "skills_match": _tool("skills_match", {"utterance": "write a report about this table"}),
        "skills/list, first page": {"method": "skills/list"},
        "initialize": {"method": "initialize"},
    }
    if headers:
        calls["skills_load by name"] = _tool("skills_load", {"name": "skill-500"})
    client, found = Client(), {name: [] for name in calls}
    for number in range(rounds + _WARM_UP):
        for name, message in calls.items():
            begun = time.perf_counter()
            answer = _post(client, message, headers)
            if number >= _WARM_UP:
                found[name].append((time.perf_counter() - begun) * 1000)
            if "error" in answer or answer["result"].get("isError"):
                raise RuntimeError(f"{name} failed: {answer}")
    return found


def _tool(name, arguments):
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def _post(client, message, headers):
    body = {"jsonrpc": "2.0", "id": 1, **message}
    answer = client.post("/mcp", json.dumps(body), content_type="application/json", headers=headers)
    return json.loads(answer.content)


if __name__ == "__main__":
    main()
