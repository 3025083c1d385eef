"""Base classes of the management commands, which choose the actor and print the result as JSON or text."""

import json
import re
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils.translation import gettext

from registry.core.prompt_text import one_line
from registry.identity.actors import Actor, shell_actor
from registry.packages.problems import Problem, Refusal
from registry.storage.failures import storage_problem

USAGE_ERROR = 2
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
)  # characters that terminals interpret
_SET_UP_HINT = (
    "`make run` or `manage.py set_up` creates it; SKILLQUAY_VAR and DATABASE_URL configure its location."
)


class ShellCommand(BaseCommand):
    """Base class of the commands. Exit status: 0 done, 1 refused or failed, 2 usage error."""

    requires_system_checks: list[str] = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Runs the command. For a ``Refusal`` or a storage failure, prints the problems as the result and
        exits with status 1. Raises CommandError for arguments that are not UTF-8.
        """
        try:
            return super().execute(*args, **options)
        except Refusal as refused:
            self._refuse(*refused.problems, as_json=options["json"])
        except (OSError, DatabaseError) as error:
            problem = storage_problem(error)
            if problem is None:
                raise
            self._refuse(problem, as_json=options["json"])
        except UnicodeEncodeError:  # undecodable bytes from the shell
            raise CommandError(
                "An argument is not UTF-8 text. Use UTF-8 for all arguments.", returncode=USAGE_ERROR
            ) from None
        return None

    def _refuse(self, *problems: Problem, as_json: bool) -> None:
        document = {"ok": False, "problems": [each.document(gettext) for each in problems]}
        self.answer(document, map(problem_line, problems), as_json=as_json, ok=False)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document only")
        add_actor_argument(parser)

    def actor(self, options: dict[str, Any]) -> Actor:
        """The user named by ``--as``, otherwise an administrator. Raises CommandError for an unknown name (a
        usage error), or if the database is not set up.
        """
        try:
            return shell_actor(options["as"])
        except Refusal as refused:
            raise CommandError(str(refused), returncode=USAGE_ERROR) from None
        except DatabaseError as error:
            raise CommandError(f"Can't use the database: {error}. {_SET_UP_HINT}") from None

    def answer(self, document: dict[str, Any], lines: Iterable[str], *, as_json: bool, ok: bool) -> None:
        """Prints the document as JSON, or the lines as text. Exits with status 1 unless ``ok``."""
        if as_json:
            text = json.dumps(document, ensure_ascii=False)
            self.stdout.write(text.encode("utf-8", "replace").decode())  # lone surrogates cannot be printed
        else:
            for line in lines:
                self.stdout.write(escape_for_terminal(line))
        if not ok:
            raise SystemExit(1)


def escape_for_terminal(text: str) -> str:
    """The text with control characters escaped, so that untrusted text cannot control a terminal."""
    return _CONTROL_CHARACTERS.sub(
        lambda match: match[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n")
    )


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as", metavar="USER", default="", help="act as this user; default: an administrator"
    )


def problem_line(problem: Problem) -> str:
    """The problem as text for a terminal: place, severity, code, message and remedy."""
    place = ":".join(str(part) for part in (problem.path, problem.line) if part)
    text = f"{problem.severity} {problem.code}: {problem.message(gettext)} {problem.remedy(gettext)}"
    return f"{place}: {text}" if place else text


def text_lines(document: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yields a document as lines of text, one per field, with nested fields indented."""
    for name, value in document.items():
        if _is_short(value):
            yield f"{indent}{one_line(name)}: {_text_value(value)}"
            continue
        yield f"{indent}{one_line(name)}:"
        if isinstance(value, Mapping):
            yield from text_lines(value, indent + "  ")
        else:
            yield from (line for each in value for line in _list_item_lines(each, indent + "  "))


def _list_item_lines(value: Any, indent: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield indent + _text_value(value)
    elif all(map(_is_short, value.values())):
        yield indent + "  ".join(text_lines(value))
    else:
        yield from text_lines(value, indent)


def _is_short(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return not any(isinstance(each, Mapping) for each in value)
    return not (value and isinstance(value, Mapping))


def _text_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(_text_value, value))
    return one_line(str(value)) if value or value == 0 else "-"


class ChangeCommand(ShellCommand):
    """Base class of commands with one operation, whose result they print as ``{ok, …, problems}`` or text."""

    def handle(self, *args: Any, **options: Any) -> None:
        result = self.change(self.actor(options), options)
        document = {"ok": True, **result, "problems": []}
        self.answer(document, text_lines(result), as_json=options["json"], ok=True)

    @abstractmethod
    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        """Performs the operation and returns the fields of the result."""
