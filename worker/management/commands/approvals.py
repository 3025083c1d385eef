from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry.actors import Actor
from registry.shell import WRONG_CALL, ShellCommand
from worker.approvals import asking, deciding
from worker.models import Choice


class Command(ShellCommand):
    help = "The runs that wait for somebody's leave, or a decision on one of them."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("run", metavar="RUN", nargs="?", help="the id of a waiting run")
        choices = [choice.value for choice in deciding.DECISIONS]
        parser.add_argument("--decision", choices=choices, help="what is said to it")
        parser.add_argument("--reason", metavar="TEXT", default="", help="why it is denied, for its caller")
        parser.add_argument("--rule", action="store_true", help="deny the skill from now on too")
        parser.add_argument("--all", action="store_true", help="list what was decided too")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["run"]) != bool(options["decision"]):
            raise CommandError("RUN and --decision go together.", returncode=WRONG_CALL)
        actor = self.actor(options)
        if options["run"]:
            self._decide(actor, options)
            return
        rows = asking.narrowed(asking.approvals(actor), {} if options["all"] else {"standing": "waiting"})
        told = [asking.approval_row(each, actor) for each in rows.order_by("expires_at", "pk")]
        lines = [_line(each) for each in told] or ["Nothing waits."]
        self.answer({"ok": True, "approvals": told, "problems": []}, lines, as_json=options["json"], ok=True)

    def _decide(self, actor: Actor, options: dict[str, Any]) -> None:
        approval = asking.find(options["run"], actor)
        choice = Choice(options["decision"])
        deciding.decide(approval, choice, actor, reason=options["reason"], rule=options["rule"])
        told = asking.approval_row(asking.find(options["run"], actor), actor)
        document = {"ok": True, **told, "problems": []}
        self.answer(document, [_line(told)], as_json=options["json"], ok=True)


def _line(told: dict[str, Any]) -> str:
    asks = "; ".join(f"{part} {', '.join(names)}" for part, names in (told["new"] or told["asks"]).items())
    who = told["token"] or told["caller"] or "-"
    return f"{told['run']} {told['standing']} {told['skill']}@{told['version']} for {who}: {asks}"
