"""What the commands share: who they act as, one JSON document or plain lines, and their exit status."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils.translation import gettext

from registry.actors import Actor, shell_actor
from registry.listing.plain import one_line
from registry.packages.problems import Problem, Refused

WRONG_CALL = 2
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # by terminals
_SET_UP = "`make run` or `manage.py set_up` makes it; SKILLQUAY_VAR and DATABASE_URL say where it is."


class ShellCommand(BaseCommand):
    """A command of the house: 0 done, 1 refused or failed, 2 called wrongly."""

    requires_system_checks: list[str] = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        """What a command does not answer itself is its refusal."""
        try:
            return super().execute(*args, **options)
        except Refused as refused:
            document = {"ok": False, "problems": [each.document(gettext) for each in refused.problems]}
            lines = map(problem_line, refused.problems)
            self.answer(document, lines, as_json=options["json"], ok=False)
        except UnicodeEncodeError:  # bytes of a shell that no database and no index takes
            raise CommandError("An argument is not text in UTF-8.", returncode=WRONG_CALL) from None
        return None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
        add_actor_argument(parser)

    def actor(self, options: dict[str, Any]) -> Actor:
        """Who the command acts as; an unknown name is a wrong call."""
        try:
            return shell_actor(options["as"])
        except Refused as refused:
            raise CommandError(str(refused), returncode=WRONG_CALL) from None
        except DatabaseError as error:
            raise CommandError(f"The database does not answer as ours: {error}. {_SET_UP}") from None

    def answer(self, document: dict[str, Any], lines: Iterable[str], *, as_json: bool, ok: bool) -> None:
        """Prints the document, or its lines for people, and ends with 1 when it is a refusal."""
        if as_json:
            text = json.dumps(document, ensure_ascii=False)
            self.stdout.write(text.encode("utf-8", "replace").decode())  # JSON is UTF-8, whatever was given
        else:
            for line in lines:
                self.stdout.write(_OBEYED.sub(_escaped, line.replace("\r\n", "\n")))
        if not ok:
            raise SystemExit(1)


def _escaped(found: re.Match[str]) -> str:
    """What a stranger's text would have a terminal do, as it is written."""
    return found[0].encode("unicode_escape").decode()


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--as", metavar="USER", default="", help="act as USER, not as the administrator")


def problem_line(problem: Problem) -> str:
    """One line for people: where, how bad, what and what to do."""
    place = ":".join(str(part) for part in (problem.path, problem.line) if part)
    said = f"{problem.severity} {problem.code}: {problem.message(gettext)} {problem.remedy(gettext)}"
    return f"{place}: {said}" if place else said


def exact(name: str) -> str:
    """TEAM/SLUG@VERSION: what changes one version does not fall upon the latest by itself."""
    if not name.partition("@")[2]:
        raise CommandError("Say which version: TEAM/SLUG@VERSION.", returncode=WRONG_CALL)
    return name


def plain_lines(document: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """A document for people: a line a field, what is within further to the right."""
    for name, value in document.items():
        if _is_short(value):
            yield f"{indent}{one_line(name)}: {_plain(value)}"
            continue
        yield f"{indent}{one_line(name)}:"
        if isinstance(value, Mapping):
            yield from plain_lines(value, indent + "  ")
        else:
            yield from (line for each in value for line in _item(each, indent + "  "))


def _item(value: Any, indent: str) -> Iterator[str]:
    """Of a list; what is short all through stands in one line."""
    if not isinstance(value, Mapping):
        yield indent + _plain(value)
    elif all(map(_is_short, value.values())):
        yield indent + "  ".join(plain_lines(value))
    else:
        yield from plain_lines(value, indent)


def _is_short(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return not any(isinstance(each, Mapping) for each in value)
    return not (value and isinstance(value, Mapping))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(_plain, value))
    return one_line(str(value)) if value or value == 0 else "-"


class ChangeCommand(ShellCommand):
    """A command that does one deed and answers ``{ok, …, problems}``."""

    def handle(self, *args: Any, **options: Any) -> None:
        told = self.change(self.actor(options), options)
        document = {"ok": True, **told, "problems": []}
        self.answer(document, plain_lines(told), as_json=options["json"], ok=True)

    @abstractmethod
    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        """Does it, and answers what is told of it."""
