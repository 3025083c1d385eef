"""``manage.py run_skill TEAM/SLUG[@VERSION]``: requests a run, waits for its end and prints it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils.translation import gettext

from registry.identity.actors import Actor
from registry.lookup.skills import find_skill, find_version
from registry.management.cli import USAGE_ERROR, ShellCommand
from registry.packages.problems import Refusal
from worker.files.inputs import store_input
from worker.models import Run, RunStatus
from worker.protocols.call import Request
from worker.queue.states import ENDED
from worker.run_views.documents import refusal_document, run_document
from worker.run_views.events import POLL_S, events_since
from worker.runs.request import request_run
from worker.service.inline import request_and_execute

_WAITING_NOTICE_S = 5.0


class Command(ShellCommand):
    help = "Run a skill, wait until the run ends and print the run."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "skill", metavar="TEAM/SLUG[@VERSION]", help="the skill and, optionally, a version or channel"
        )
        parser.add_argument("--input", metavar="JSON", default="{}", help="the inputs as a JSON object")
        parser.add_argument(
            "--arguments", metavar="JSON_LIST", default="[]", help="the script's arguments as a JSON list"
        )
        parser.add_argument(
            "--file",
            metavar="NAME=PATH",
            action="append",
            default=[],
            help="send the file in place of the argument NAME, otherwise as the input NAME; repeatable",
        )
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--script", metavar="ID", help="the script to run")
        one.add_argument("--action", metavar="A", help="the action to run")
        one.add_argument("--tool", metavar="T", help="the tool to call")
        parser.add_argument("--stdin", metavar="TEXT", help="standard input for the script")
        parser.add_argument(
            "--debug", action="store_true", help="set SKILL_DEBUG=1 so that the script logs more"
        )
        parser.add_argument("--no-cache", action="store_true", help="run even if a cached result exists")
        parser.add_argument("--here", action="store_true", help="execute in this process, without a worker")

    def handle(self, *args: Any, **options: Any) -> None:
        request = _request(options)
        files = dict(_file(text) for text in options["file"])
        actor = self.actor(options)
        try:
            run = self._run(actor, _with_files(request, files, actor), options)
            document = run_document(run, actor=actor, stream_bytes=settings.SKILLQUAY_MAX_RUN_OUTPUT_BYTES)
        except Refusal as error:
            document = refusal_document(error, skill=options["skill"], translate=gettext)
        ok = document["status"] == RunStatus.SUCCEEDED
        self.answer(document, _lines(document), as_json=options["json"], ok=ok)

    def _run(self, actor: Actor, request: Request, options: dict[str, Any]) -> Run:
        label, _, number = options["skill"].partition("@")
        version = find_version(find_skill(label, actor), number or None, actor)
        arguments = {"actor": actor, "version": version, "request": request, "no_cache": options["no_cache"]}
        return request_and_execute(**arguments) if options["here"] else self._wait(request_run(**arguments))

    def _wait(self, run: Run) -> Run:
        position, ended, started_at, noticed = "", False, time.monotonic(), False
        while not ended:
            batch = events_since(run.uid, position)
            events, position, ended = batch.events, batch.position, batch.ended
            for event in events:
                self._show(event)
            if not noticed and not events and time.monotonic() - started_at > _WAITING_NOTICE_S:
                self.stderr.write(
                    f"Run {run.uid} is waiting for a worker. Start one with `manage.py up`, or use --here."
                )
            noticed = noticed or bool(events) or time.monotonic() - started_at > _WAITING_NOTICE_S
            if not ended and not events:
                time.sleep(POLL_S)
        run.refresh_from_db()
        return run

    def _show(self, event: dict[str, Any]) -> None:
        if event["event"] == "log":
            self.stderr.write(_escape(event["data"]["text"]), ending="")
        elif event["event"] == "progress":
            self.stderr.write(f"{event['data']['percent']} %")
        elif event["event"] == "status" and event["data"]["status"] not in ENDED:
            self.stderr.write(event["data"]["status"])


def _request(options: dict[str, Any]) -> Request:
    inputs, arguments = _parse_json(options, "input", dict), _parse_json(options, "arguments", list)
    chosen = {key: options[key] for key in ("script", "action", "tool", "stdin", "debug")}
    return Request(inputs=inputs, arguments=arguments, **chosen)


def _parse_json(options: dict[str, Any], name: str, kind: type) -> Any:
    try:
        value = json.loads(options[name])
    except ValueError as error:
        raise CommandError(
            f"The value of --{name} is not JSON: {error}. Correct the value.", returncode=USAGE_ERROR
        ) from None
    if not isinstance(value, kind):
        shape = "object" if kind is dict else "list"
        raise CommandError(
            f"The value of --{name} is not a JSON {shape}. Correct the value.", returncode=USAGE_ERROR
        )
    return value


def _file(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    if not name or not separator:
        raise CommandError("The value of --file is invalid. Use NAME=PATH.", returncode=USAGE_ERROR)
    if not Path(path).is_file():
        raise CommandError(
            f"Can't send {name}: {path} is not a file. Choose an existing file.", returncode=USAGE_ERROR
        )
    return name, Path(path)


def _with_files(request: Request, files: dict[str, Path], actor: Actor) -> Request:
    """Adds the stored files to the request as arguments or inputs.

    A file replaces each argument that equals its name. Without such an argument, the file becomes an input.
    """
    arguments, inputs = list(request.arguments), dict(request.inputs)
    for name, path in files.items():
        with path.open("rb") as file:
            blocks = iter(lambda: file.read(1 << 20), b"")
            reference = {"input": store_input(blocks, path.name, actor).uid}
        if name in arguments:
            arguments = [reference if argument == name else argument for argument in arguments]
        else:
            inputs[name] = reference
    return replace(request, inputs=inputs, arguments=arguments)


def _lines(document: dict[str, Any]) -> list[str]:
    reason = document["failure_code"] or "done"
    answer = document.get("outputs") or document.get("output")
    name = "@".join(filter(None, (document["skill"], document["version"])))
    name = f"Run #{document['number']} of {name}" if document["number"] else name
    return [
        f"{name} {document['status']}: {reason}",
        *map(_escape, dict.fromkeys(filter(None, (_cause_line(document), document.get("message"))))),
        *map(_escape, _remedies(document)),
        *([_escape(json.dumps(answer, ensure_ascii=False, indent=2))] if answer else []),
        *(f"{file['path']} ({file['size']} bytes) {file['url']}" for file in document.get("artifacts", [])),
    ]


def _cause_line(document: dict[str, Any]) -> str:
    cause = document.get("cause")
    if not cause:
        return ""
    kind = "" if cause["type"] == document["failure_code"] else cause["type"]
    text = ": ".join(filter(None, (kind, cause["message"])))
    place = ":".join(str(part) for part in (cause["file"], cause["line"]) if part)
    return f"{text} ({place})" if place else text


def _remedies(document: dict[str, Any]) -> list[str]:
    match document.get("error"):
        case {"details": {"problems": [*problems]}}:
            return [str(each["remedy"]) for each in problems if isinstance(each, dict) and each.get("remedy")]
    remedy = (document.get("cause") or {}).get("remedy")
    return [remedy] if remedy else []


def _escape(text: str) -> str:
    """Escapes control characters, so that a script's output cannot control the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)
