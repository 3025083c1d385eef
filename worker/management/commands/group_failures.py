"""``manage.py group_failures``: adds failed runs of earlier versions of Skillquay to error groups."""

from typing import Any

from django.core.management.base import BaseCommand

from worker.failures.recount import group_earlier_runs


class Command(BaseCommand):
    help = "Add failed runs that an older release recorded to error groups. You can repeat the command."

    def handle(self, *args: Any, **options: Any) -> None:
        number = sum(group_earlier_runs())
        self.stdout.write(f"Runs added to error groups: {number}")
