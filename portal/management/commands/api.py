"""``manage.py api METHOD PATH [JSON]``: calls an endpoint in this process, without a server."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.http.response import HttpResponseBase

from portal.management.in_process import Call, InProcessClient, chunks, form_body
from registry.management.cli import USAGE_ERROR, ShellCommand, add_actor_argument, escape_for_terminal

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Command(ShellCommand):
    help = (
        "Call an API endpoint without a server and print the response body. "
        "The exit status is 0 for 2xx, 1 for any other response and 2 for wrong usage."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "method", metavar="METHOD", type=str.upper, choices=METHODS, help="the HTTP method"
        )
        parser.add_argument(
            "path", metavar="PATH", help="the path and query, such as '/api/v1/skills?limit=5'"
        )
        parser.add_argument(
            "body", metavar="JSON", nargs="?", help="the request body; - reads it from standard input"
        )
        parser.add_argument(
            "--file",
            metavar="FIELD=PATH",
            action="append",
            default=[],
            help="send the file as this form field; the fields of JSON become form fields too; repeatable",
        )
        parser.add_argument("--out", metavar="PATH", type=Path, help="write the response body to this file")
        parser.add_argument(
            "--all-pages", action="store_true", help="follow next_cursor and print all items in one document"
        )
        add_actor_argument(parser)
        parser.set_defaults(json=True)

    def handle(self, *args: Any, **options: Any) -> None:
        call = _call(options)
        client = InProcessClient(self.actor(options))
        with closing(client.all_pages(call) if options["all_pages"] else client.send(call)) as response:
            is_done = 200 <= response.status_code < 300
            if is_done and options["out"]:
                _write(chunks(response), options["out"])
            else:
                self._print(response)
        if not is_done:
            raise SystemExit(1)

    def _print(self, response: HttpResponseBase) -> None:
        body = b"".join(chunks(response))
        if response.status_code >= 400 and response.get("Content-Type", "").startswith("text/html"):
            body = b""  # an HTML page, useless in a shell
            self.stderr.write(
                "Can't find the endpoint. Use a path that starts with /api/v1/; /api/docs/ lists all paths."
            )
        if not body and response.status_code >= 300:
            self.stderr.write(f"HTTP {response.status_code} {response.get('Location', '')}".rstrip())
        if body and response.get("Content-Type") == "application/json":
            body += b"\n"
        raw = getattr(self.stdout, "buffer", None)
        if raw is not None and not self.stdout.isatty():
            self.stdout.flush()
            raw.write(body)
            raw.flush()
            return
        try:
            self.stdout.write(escape_for_terminal(body.decode()), ending="\n" if body else "")
        except UnicodeDecodeError:
            raise _usage_error("The response is not text. Write it to a file with --out PATH.") from None


def _call(options: dict[str, Any]) -> Call:
    path, _, query = options["path"].partition("?")
    if not path.startswith("/"):
        raise _usage_error("PATH starts with a slash, such as /api/v1/skills.")
    if options["all_pages"] and options["method"] != "GET":
        raise _usage_error("--all-pages is for GET.")
    body, content_type = _body(options)
    return Call(options["method"], path, query, body, content_type)


def _body(options: dict[str, Any]) -> tuple[bytes, str]:
    given = options["body"]
    data = sys.stdin.buffer.read() if given == "-" else (given or "").encode()
    try:
        value = json.loads(data) if given is not None else {}
    except ValueError as error:
        raise _usage_error(f"The request body is not JSON: {error}") from None
    if not options["file"]:
        return data, "application/json" if data else ""
    if not isinstance(value, dict):
        raise _usage_error("With --file, JSON is an object: its members become form fields.")
    try:
        return form_body(value, [_file(each) for each in options["file"]])
    except OSError as error:
        raise _usage_error(f"Can't read {error.filename}: {error.strerror}") from None


def _file(given: str) -> tuple[str, Path]:
    field, _, path = given.partition("=")
    if not field or not path:
        raise _usage_error(f"--file takes FIELD=PATH, not {given}")
    return field, Path(path)


def _write(body: Iterable[bytes], path: Path) -> None:
    """Writes the whole file or nothing; writes to a device or pipe instead of replacing it.

    Raises CommandError if it can't write.
    """
    path = path.resolve()
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as target:
                target.writelines(body)
        else:
            _replace(body, path)
    except OSError as error:
        raise CommandError(f"Can't write {path}: {error.strerror}") from None


def _replace(body: Iterable[bytes], path: Path) -> None:
    number, name = tempfile.mkstemp(dir=path.parent, prefix=".api.")
    try:
        with open(number, "wb") as file:
            file.writelines(body)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def _usage_error(reason: str) -> CommandError:
    return CommandError(reason, returncode=USAGE_ERROR)
