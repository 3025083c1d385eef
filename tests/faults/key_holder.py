"""Kills a process in the middle of a request with an idempotency key; prints the answers to its repetitions.

The child prints nothing; the parent prints one JSON list: what another process is answered while the child
works (PostgreSQL alone, because SQLite makes it wait), and what after its death.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import django

BODY = {"utterance": "sum it up"}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.db import connection

    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        from registry.matching.api import match as api

        def wait_for_death(*_arguments: object, **_options: object) -> None:
            os.write(writer, b"x")
            time.sleep(600)

        api.match = wait_for_death  # type: ignore[assignment]
        _ask()
    assert os.read(reader, 1) == b"x"
    answers = [_ask()] if connection.vendor == "postgresql" else []
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    answers += [_ask(), _ask()]
    json.dump(answers, sys.stdout)


def _ask() -> dict[str, object]:
    from django.test import Client

    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Idempotency-Key": "one"}
    answer = Client().post("/api/v1/match", BODY, "application/json", headers=headers)
    named = ("Retry-After", "Idempotency-Replayed")
    return {"status": answer.status_code, **{name: answer[name] for name in named if name in answer}}


if __name__ == "__main__":
    main()
