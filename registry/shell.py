"""What the commands share: who they act as, one JSON document or plain lines, and their exit status."""

from __future__ import annotations

import json
from abc import abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils.translation import gettext

from registry.actors import Actor, shell_actor
from registry.packages.problems import Problem, Refused

WRONG_CALL = 2
_SET_UP = "`make run` or `manage.py set_up` makes it; SKILLQUAY_VAR and DATABASE_URL say where it is."


class ShellCommand(BaseCommand):
    """A command of the house: 0 done, 1 refused or failed, 2 called wrongly."""

    requires_system_checks: list[str] = []

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
            self.stdout.write(json.dumps(document, ensure_ascii=False))
        else:
            for line in lines:
                self.stdout.write(line)
        if not ok:
            raise SystemExit(1)


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--as", metavar="USER", default="", help="act as USER, not as the administrator")


def problem_line(problem: Problem) -> str:
    """One line for people: where, how bad, what and what to do."""
    place = ":".join(str(part) for part in (problem.path, problem.line) if part)
    said = f"{problem.severity} {problem.code}: {problem.message(gettext)} {problem.remedy(gettext)}"
    return f"{place}: {said}" if place else said


class ChangeCommand(ShellCommand):
    """A command that does one deed and answers ``{ok, …, problems}``."""

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        told: dict[str, Any] = {}
        problems: tuple[Problem, ...] = ()
        try:
            told = self.change(actor, options)
        except Refused as refused:
            problems = refused.problems
        document = {"ok": not problems, **told, "problems": [each.document(gettext) for each in problems]}
        lines = [f"{key}: {value}" for key, value in told.items()] + [problem_line(each) for each in problems]
        self.answer(document, lines, as_json=options["json"], ok=not problems)

    @abstractmethod
    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        """Does it, and answers what is told of it."""
