from django.db import transaction

from registry.models import Version
from registry.packages.package import Package
from registry.versions.publishing import parser_answers
from worker.queue.dispatch import wake_parser_reader


def wake_for_version(version: Version, package: Package) -> None:
    """Wakes a worker after the transaction, if the parser of one of the version's scripts can be run."""
    if version.command_lines.filter(asks_parser=True).exists():
        transaction.on_commit(wake_parser_reader)


def ask_again(version: Version) -> None:
    """Queues the version's parsers again that need its dependencies. Call this after the dependencies
    changed.
    """
    if parser_answers.ask_again(version):
        transaction.on_commit(wake_parser_reader)
