"""``manage.py status``: shows the site's checks, queue and workers."""

from __future__ import annotations

from typing import Any

from registry.management.cli import ShellCommand, text_lines
from worker.health.status import status_document


class Command(ShellCommand):
    help = "Show whether database, storage, broker, reaper and workers work. The exit status is 0 if all do."

    def handle(self, *args: Any, **options: Any) -> None:
        document = status_document()
        self.answer(document, text_lines(document), as_json=options["json"], ok=document["ok"])
