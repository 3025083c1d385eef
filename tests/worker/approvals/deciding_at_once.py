"""``python -m tests.worker.approvals.deciding_at_once ROUNDS``: four processes decide on runs at once.

Prints a JSON object for each round of each kind: ``did``, what each process did or the code or exception that
it met; ``runs``, how each stands after it, with how many decisions the audit knows of.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from datetime import timedelta

import django

WAITING = 3  # runs of a skill at the beginning of each round; one that is asked for meanwhile is the fourth


def main() -> None:
    rounds = int(sys.argv[1])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.storage import blobs

    people()
    django.db.connections.close_all()  # each child opens its own
    blobs.backend()
    context = multiprocessing.get_context("fork")
    gate, said = context.Barrier(4), context.SimpleQueue()
    players = [context.Process(target=play, args=(number, rounds, gate, said)) for number in range(4)]
    for player in players:
        player.start()
    told = [said.get() for _ in range(5 * rounds * len(KINDS))]
    for player in players:
        player.join()
    for slug in dict.fromkeys(each[0] for each in told):
        by = {player: done for name, player, done in told if name == slug}
        did, runs = [by[player] for player in range(4)], by[4]
        print(json.dumps({"kind": slug.rpartition("-")[0], "did": did, "runs": runs}))


def people() -> None:
    from django.utils import timezone

    from registry.identity import tokens
    from registry.identity.actors import Actor
    from registry.models import Membership, Role, Team, User

    team = Team.objects.create(slug="race", name="Race")
    alice = User.objects.create_user("alice")
    Membership.objects.create(team=team, user=alice, role=Role.OWNER)
    ends = timezone.now() + timedelta(days=1)
    tokens.issue(alice, name="agent", scopes=["run"], expires_at=ends, by=Actor(user=alice))


def play(player: int, rounds: int, gate, said) -> None:
    for kind, deeds in KINDS.items():
        for number in range(rounds):
            slug = f"{kind}-{number}"
            if player == 0:
                prepare(slug)
            gate.wait(60)
            said.put((slug, player, done(deeds[player], slug)))
            gate.wait(60)
            if player == 0:
                said.put((slug, 4, state(slug)))


def done(deed, slug: str) -> str:
    from registry.packages.problems import Refusal

    try:
        return deed(slug)
    except Refusal as refused:
        return refused.code
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def owner():
    from registry.identity.actors import Actor
    from registry.models import User

    return Actor(user=User.objects.get(username="alice"))


def agent():
    from registry.identity.actors import Actor
    from registry.models import Token

    token = Token.objects.get()
    return Actor(user=token.owner, token=token, scopes=frozenset({"run"}))


def prepare(slug: str) -> None:
    from registry.models import Team
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    head = f"---\nname: {slug}\ndescription: To race.\nversion: 1.0.0\nallowed-tools: [Bash]\n---\n"
    files = [("SKILL.md", head.encode()), ("scripts/main.py", b"print('{}')\n")]
    publish(read_files(files), team=Team.objects.get(), actor=owner())
    for number in range(WAITING):
        ask(slug, number)


def ask(slug: str, number: int = WAITING) -> str:
    from registry.models import Version
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    version, key = Version.objects.get(skill__slug=slug), f"{slug}:{number}"
    return request_run(actor=agent(), version=version, request=Request(), idempotency_key=key).status


def deciding(number: int, choice: str, *, rule: bool = False):
    def decide(slug: str) -> str:
        from worker.approvals import decide as deciding
        from worker.approvals import requests
        from worker.models import ApprovalDecision

        approval = requests.find(run_of(slug, number).uid, owner())
        return deciding.decide(approval, ApprovalDecision(choice), owner(), reason="No.", rule=rule).status

    return decide


def run_of(slug: str, number: int):
    from worker.models import Run

    return Run.objects.get(idempotency_key=f"{slug}:{number}")


def cancelling(number: int):
    def cancel(slug: str) -> str:
        from worker.runs.cancel import cancel

        return "cancelled" if cancel(run_of(slug, number), actor=owner()) else "over"

    return cancel


def expiring(slug: str) -> str:
    from django.utils import timezone

    from worker.approvals import decide as deciding

    return "expired" if run_of(slug, 0).uid in deciding.expire(timezone.now() + timedelta(days=9)) else "over"


def allowing_the_token(slug: str) -> str:
    from registry.rules import edit

    return edit.add_rule(agent().token, "allow", f"race/{slug}", owner()).effect


def state(slug: str) -> list[list[object]]:
    """Of each run: its status, and how many decisions were written down."""
    from registry.models import AuditEntry
    from worker.models import Run

    return [
        [run.status, AuditEntry.objects.filter(target=run.uid, action__startswith="approval.").count()]
        for run in Run.objects.filter(skill__slug=slug).order_by("idempotency_key")
    ]


ONCE, DENY, EXACT = deciding(0, "once"), deciding(0, "denied"), deciding(0, "exact")
KINDS = {
    "deciders": (ONCE, DENY, EXACT, deciding(0, "denied", rule=True)),
    "cancel": (ONCE, cancelling(0), DENY, cancelling(0)),
    "rule": (EXACT, deciding(2, "exact"), cancelling(1), ask),
    "denial": (deciding(1, "denied", rule=True), deciding(2, "exact"), ONCE, ask),
    "token": (deciding(2, "prefix"), allowing_the_token, EXACT, ask),
    "expiry": (ONCE, expiring, DENY, expiring),
}


if __name__ == "__main__":
    main()
