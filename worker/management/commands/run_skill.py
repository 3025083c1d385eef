"""``manage.py run_skill TEAM/SLUG[@VERSION]``: asks for a run, waits for its end, prints its document."""

from __future__ import annotations

import json
import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext

from registry.actors import Actor
from registry.catalog import find_skill, find_version
from registry.packages.problems import Refused
from registry.shell import WRONG_CALL, ShellCommand
from worker.documents import refusal_document, run_document
from worker.events import POLL_S, told_after
from worker.models import Run, Status
from worker.protocols.call import Request
from worker.runs import request_here, request_run
from worker.states import ENDED

_SAY_WAITING_S = 5.0


class Command(ShellCommand):
    help = "Run a skill and wait for what comes of it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG[@VERSION]")
        parser.add_argument("--input", metavar="JSON", default="{}", help="the inputs, a JSON object")
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--script", metavar="ID")
        one.add_argument("--action", metavar="A")
        one.add_argument("--tool", metavar="T")
        parser.add_argument("--stdin", metavar="TEXT", help="what a script reads from its standard input")
        parser.add_argument("--debug", action="store_true", help="set SKILL_DEBUG=1")
        parser.add_argument("--fresh", action="store_true", help="do not answer from the cache")
        parser.add_argument("--here", action="store_true", help="execute in this process, without a worker")

    def handle(self, *args: Any, **options: Any) -> None:
        request = _request(options)
        actor = self.actor(options)
        try:
            run = self._run(actor, request, options)
            document = run_document(run, actor=actor, stream_bytes=settings.SKILLQUAY_RUN_OUTPUT_BYTES)
        except Refused as no:
            document = refusal_document(no, skill=options["skill"], translate=gettext)
        ok = document["status"] == Status.SUCCEEDED
        self.answer(document, _lines(document), as_json=options["json"], ok=ok)

    def _run(self, actor: Actor, request: Request, options: dict[str, Any]) -> Run:
        label, _, number = options["skill"].partition("@")
        version = find_version(find_skill(label, actor), number or None, actor)
        asked = {"actor": actor, "version": version, "request": request, "fresh": options["fresh"]}
        return request_here(**asked) if options["here"] else self._wait(request_run(**asked))

    def _wait(self, run: Run) -> Run:
        """Shows log and progress on stderr until the run has ended."""
        position, ended, begun, told = "", False, time.monotonic(), False
        while not ended:
            found = told_after(run.uid, position)
            events, position, ended = found.events, found.position, found.ended
            for event in events:
                self._show(event)
            if not told and not events and time.monotonic() - begun > _SAY_WAITING_S:
                self.stderr.write(f"Run {run.uid} waits for a worker: is `manage.py up` running?")
            told = told or bool(events) or time.monotonic() - begun > _SAY_WAITING_S
            if not ended and not events:
                time.sleep(POLL_S)
        run.refresh_from_db()
        return run

    def _show(self, event: dict[str, Any]) -> None:
        if event["event"] == "log":
            self.stderr.write(_escaped(event["data"]["text"]), ending="")
        elif event["event"] == "progress":
            self.stderr.write(f"{event['data']['percent']} %")
        elif event["event"] == "status" and event["data"]["status"] not in ENDED:
            self.stderr.write(event["data"]["status"])


def _request(options: dict[str, Any]) -> Request:
    try:
        inputs = json.loads(options["input"])
    except ValueError as error:
        raise CommandError(f"--input is not JSON: {error}", returncode=WRONG_CALL) from None
    if not isinstance(inputs, dict):
        raise CommandError("--input is not a JSON object", returncode=WRONG_CALL)
    chosen = {key: options[key] for key in ("script", "action", "tool", "stdin", "debug")}
    return Request(inputs=inputs, **chosen)


def _lines(document: dict[str, Any]) -> list[str]:
    told = document["failure_code"] or "done"
    answer = document.get("outputs") or document.get("output")
    name = "@".join(filter(None, (document["skill"], document["version"])))
    return [
        f"{name} {document['status']}: {told}",
        *([_escaped(document["message"])] if document.get("message") else []),
        *map(_escaped, _remedies(document)),
        *([_escaped(json.dumps(answer, ensure_ascii=False, indent=2))] if answer else []),
        *(f"{file['path']} ({file['size']} bytes) {file['url']}" for file in document.get("artifacts", [])),
    ]


def _remedies(document: dict[str, Any]) -> list[str]:
    """What to do about it; the details of a script's answer may be anything."""
    match document.get("error"):
        case {"details": {"problems": [*problems]}}:
            return [str(each["remedy"]) for each in problems if isinstance(each, dict) and each.get("remedy")]
    return []


def _escaped(text: str) -> str:
    """What a script prints does not move the cursor of whoever watches."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
