"""``manage.py backup``: writes all rows and blobs of the site to one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from portal.operations.site_keys import KeyFile
from registry.management.cli import USAGE_ERROR, ShellCommand
from registry.management.progress import ProgressPrinter
from registry.storage import blobs
from registry.transfer.copy import CopyResult, back_up, document
from worker.health.release import version


class Command(ShellCommand):
    help = (
        "Write all data of the site except its keys to one file. The site can stay online, and `restore` "
        "accepts the file on SQLite and PostgreSQL."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="the new file")
        parser.add_argument(
            "--keys", type=Path, metavar="FILE", help="also write the site's keys, to this separate file"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for path in filter(None, [options["file"], options["keys"]]):
            if path.exists():
                raise CommandError(
                    f"Can't write {path}: the file exists. Choose another file.", returncode=USAGE_ERROR
                )
            if not os.access(path.parent, os.W_OK):
                raise CommandError(
                    f"Can't write to the folder {path.parent}. Choose a writable folder.",
                    returncode=USAGE_ERROR,
                )
        result = back_up(options["file"], blobs.backend(), release=version(), on_progress=ProgressPrinter())
        if options["keys"]:
            KeyFile.of_this_site().write(options["keys"])
        self.answer(document(result), _lines(result, options), as_json=options["json"], ok=True)


def _lines(result: CopyResult, options: dict[str, Any]) -> list[str]:
    size = f"{result.bytes / 2**20:.1f} MB"
    lines = [f"Backed up {result.rows} rows and {result.blobs} blobs to {options['file']} ({size})."]
    if options["keys"]:
        return [*lines, f"Wrote the keys to {options['keys']}. Keep this file apart from the backup."]
    return [*lines, "The site's keys are not in it. Write them with --keys, or keep your settings apart."]
