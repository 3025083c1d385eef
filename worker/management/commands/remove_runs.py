"""``manage.py remove_runs``: removes the runs that the retention policies no longer keep."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.identity.actors import Actor
from registry.management.cli import ChangeCommand
from worker.daily_runs.roll_up import roll_up_all
from worker.retention import documents, policies, remove
from worker.retention.preview import preview


class Command(ChangeCommand):
    help = "Remove runs, artifacts and logs that the retention policies no longer keep."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only count what would be removed")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        policies.require_editor(None, actor)
        roll_up_all()
        if options["dry_run"]:
            return documents.preview_document(preview(None, {}, actor))
        is_done = remove.remove_now()
        return {"done": is_done, "last_pass": documents.retention_document(None)["last_pass"]}
