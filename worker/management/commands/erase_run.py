from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.shell import ChangeCommand
from worker.api.finding import find_run
from worker.erasing import erase_run


class Command(ChangeCommand):
    help = "Erase the content of a run that has ended; its row stays."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("run", metavar="ID")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        run = erase_run(find_run(options["run"], actor), actor=actor)
        return {"run": run.uid, "erased_at": str(run.erased_at)}
