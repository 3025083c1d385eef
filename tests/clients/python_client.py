"""The tasks of a client author's first day, with a client that openapi-python-client generated.

``python python_client.py URL TOKEN`` with the folder of the generated client in PYTHONPATH. The token belongs
to an administrator and has every scope.
"""

import hashlib
import io
import secrets
import sys
import zipfile
from typing import TypeVar

from httpx import Timeout
from skillquay_client import AuthenticatedClient
from skillquay_client.api.audit import list_audit
from skillquay_client.api.packages import publish_package
from skillquay_client.api.people import create_user
from skillquay_client.api.runs import download_artifact, get_run, get_run_log, list_runs, rerun, start_run
from skillquay_client.api.site import get_me
from skillquay_client.api.skills import search_skills
from skillquay_client.api.teams import add_member, create_team, list_members, update_member
from skillquay_client.api.tokens import create_token, revoke_token, rotate_token
from skillquay_client.api.versions import download_version, get_file
from skillquay_client.models import (
    Error,
    MemberRequest,
    Publication,
    RerunRequest,
    Role,
    RoleRequest,
    RotationRequest,
    Run,
    RunRequest,
    RunStatus,
    Scope,
    TeamRequest,
    TokenRequest,
    UserRequest,
)
from skillquay_client.types import File

T = TypeVar("T")
SKILL_MD = """---
name: greet
description: Writes a greeting to a file.
version: 1.0.0
---
# Greet

`scripts/greet.py --name NAME --output-dir FOLDER` writes `out/greeting.txt`.
"""
GREET_PY = """import argparse, json, pathlib, sys
parser = argparse.ArgumentParser()
parser.add_argument("--name")
parser.add_argument("--output-dir")
options = parser.parse_args()
folder = pathlib.Path(options.output_dir, "out")
folder.mkdir()
folder.joinpath("greeting.txt").write_text(f"Hello, {options.name}!")
print("100% complete", file=sys.stderr)
print(json.dumps({"greeted": options.name}))
"""


def ok(answer: T | Error | None) -> T:
    """The answer of an operation. Raises AssertionError if it is an error, or has an undocumented status."""
    assert answer is not None
    assert not isinstance(answer, Error), answer
    return answer


def package() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("greet/SKILL.md", SKILL_MD)
        archive.writestr("greet/scripts/greet.py", GREET_PY)
    return buffer.getvalue()


def manage_team(client: AuthenticatedClient, team: str) -> None:
    assert ok(create_team.sync(client=client, body=TeamRequest(team, name="Clients"))).slug == team
    new = ok(create_user.sync(client=client, body=UserRequest(f"mei-{team}")))
    assert new.one_time_password
    member = MemberRequest(new.username, role=Role.MEMBER)
    assert ok(add_member.sync(team, client=client, body=member)).role == Role.MEMBER
    changed = update_member.sync(team, new.username, client=client, body=RoleRequest(Role.MAINTAINER))
    assert ok(changed).role == Role.MAINTAINER
    members = ok(list_members.sync(team, client=client)).items
    assert {member.username: member.role for member in members}[new.username] == Role.MAINTAINER


def publish(client: AuthenticatedClient, team: str) -> str:
    """Publishes the package and returns its digest."""

    def send(*, dry_run: bool) -> Publication:
        body = File(io.BytesIO(package()))
        done = ok(publish_package.sync(client=client, body=body, team=team, dry_run=dry_run))
        assert done.ok
        assert done.skill == f"{team}/greet"
        return done

    assert send(dry_run=True).created
    published = send(dry_run=False)
    assert published.created
    assert not send(dry_run=False).created
    hits = ok(search_skills.sync(client=client, q=published.skill)).results
    assert hits[0].skill == published.skill
    return published.digest


def download(client: AuthenticatedClient, team: str, digest: str) -> None:
    archive = ok(download_version.sync(team, "greet", "1.0.0", client=client)).payload.read()
    assert digest == "sha256:" + hashlib.sha256(archive).hexdigest()
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        script = next(name for name in files.namelist() if name.endswith("scripts/greet.py"))
        assert files.read(script).decode() == GREET_PY
    file = ok(get_file.sync(team, "greet", "latest", "scripts/greet.py", client=client))
    assert file.payload.read() == GREET_PY.encode()


def finished(client: AuthenticatedClient, run: Run) -> Run:
    """The run after it has ended."""
    while run.status in (RunStatus.QUEUED, RunStatus.RUNNING):
        run = ok(get_run.sync(run.id, client=client, wait=30))
    assert run.status is RunStatus.SUCCEEDED, run
    return run


def greeting(client: AuthenticatedClient, run: Run) -> str:
    file = ok(download_artifact.sync(run.id, "out/greeting.txt", client=client))
    return str(file.payload.read(), "utf-8")


def run_twice(client: AuthenticatedClient, team: str) -> None:
    inputs = {"name": "Mei", "output_dir": "."}
    started = ok(start_run.sync(client=client, body=RunRequest(f"{team}/greet", inputs=inputs, team=team)))
    run = finished(client, started)
    assert run.outputs
    assert run.outputs["greeted"] == "Mei"
    assert greeting(client, run) == "Hello, Mei!"
    steps = run.steps or []
    assert steps
    assert all(step.timestamp for step in steps)
    log = ok(get_run_log.sync(run.id, client=client))
    assert "100% complete" in "".join(chunk.text for chunk in log.chunks)

    again = finished(
        client, ok(rerun.sync(run.id, client=client, body=RerunRequest(inputs={**inputs, "name": "Li"})))
    )
    assert again.rerun_of == run.id
    assert greeting(client, again) == "Hello, Li!"
    found = ok(list_runs.sync(client=client, request_id=run.request_id)).items
    assert [row.id for row in found] == [run.id]


def rotate(client: AuthenticatedClient, url: str) -> None:
    """Creates a token, replaces its secret with and without an overlap, and revokes it."""

    def works(secret: str) -> bool:
        return get_me.sync_detailed(client=AuthenticatedClient(url, secret)).status_code == 200

    body = TokenRequest("nightly", scopes=[Scope.READ, Scope.RUN])
    made = ok(create_token.sync(client=client, body=body))
    renewed = ok(rotate_token.sync(made.id, client=client, body=RotationRequest(overlap_hours=1)))
    assert renewed.id == made.id
    assert works(made.secret)
    assert works(renewed.secret)
    ok(rotate_token.sync(made.id, client=client, body=RotationRequest(overlap_hours=0)))
    assert not works(made.secret)
    assert not works(renewed.secret)
    assert revoke_token.sync_detailed(made.id, client=client).status_code == 204


def read_errors(client: AuthenticatedClient, team: str) -> None:
    missing = start_run.sync_detailed(client=client, body=RunRequest(f"{team}/absent"))
    assert missing.status_code == 404
    assert isinstance(missing.parsed, Error)
    assert missing.parsed.code == "NOT_FOUND"
    assert missing.parsed.remedy


def main(url: str, token: str) -> None:
    client = AuthenticatedClient(
        base_url=url, token=token, raise_on_unexpected_status=True, timeout=Timeout(60)
    )
    team = f"clients-{secrets.token_hex(3)}"
    assert ok(get_me.sync(client=client)).is_administrator
    manage_team(client, team)
    download(client, team, publish(client, team))
    run_twice(client, team)
    rotate(client, url)
    read_errors(client, team)
    actions = {entry.action for entry in ok(list_audit.sync(client=client, target=team)).items}
    assert actions >= {"team.create", "member.add", "version.publish"}, actions


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
