"""``manage.py bench NAME``: runs the benchmark ``bench/NAME.py`` on this machine."""

import json
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    help = "Run a benchmark on this machine, for example: bench runs."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document only")
        names = parser.add_subparsers(dest="name", metavar="NAME", required=True, help="the benchmark")
        for name in _names():
            one = names.add_parser(name)
            one.add_argument("--json", action="store_true", default=False)
            import_module(f"bench.{name}").add_arguments(one)

    def handle(self, *args: Any, **options: Any) -> None:
        bench = import_module(f"bench.{options['name']}")
        try:
            document = bench.measure(options, log=self.stderr.write)
        except RuntimeError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(document))
        else:
            for line in bench.lines(document):
                self.stdout.write(line)


def _names() -> list[str]:
    folder = settings.BASE_DIR / "bench"
    return sorted(file.stem for file in folder.glob("*.py") if not file.stem.startswith("_"))
