"""``manage.py restore``: fills an empty site from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from portal.operations.data_folder import lock_data_folder
from portal.operations.site_keys import KeyFile
from registry.audit_chain.verification import verify
from registry.identity import site_key
from registry.management.cli import ShellCommand
from registry.management.progress import ProgressPrinter
from registry.storage import blobs
from registry.transfer.archive import BackupFile
from registry.transfer.copy import document, restore
from registry.transfer.errors import KEYS_DIFFER


class Command(ShellCommand):
    help = (
        "Restore a backup into the empty database and storage of this site. Repeat an interrupted command to "
        "continue the restore."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="the file that `backup` wrote")
        keys = parser.add_mutually_exclusive_group()
        keys.add_argument("--keys", type=Path, metavar="FILE", help="the file that `backup --keys` wrote")
        keys.add_argument(
            "--without-keys",
            action="store_true",
            help="keep this site's keys; users must sign in again and teams must set their secrets again",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        backup = BackupFile(options["file"])
        keys = KeyFile.read(options["keys"]) if options["keys"] else KeyFile.of_this_site()
        if keys.fingerprint != backup.manifest["key"] and not options["without_keys"]:
            raise KEYS_DIFFER.refusal()
        with lock_data_folder():
            call_command("migrate", verbosity=0, interactive=False)
            result = restore(backup, blobs.backend(), on_progress=ProgressPrinter())
            keys.install()
            if options["without_keys"]:
                site_key.replace()
        mismatch = verify().mismatch
        lines = [
            f"Restored {result.rows} rows and {result.blobs} blobs of {backup.manifest['created_at'][:19]}Z. "
            "Counts and digests match the backup.",
            "The audit log is complete." if mismatch is None else "The audit log does not match its hashes.",
            "Run manage.py set_up, then start the site.",
        ]
        self.answer(
            {**document(result), "audit_ok": mismatch is None},
            lines,
            as_json=options["json"],
            ok=mismatch is None,
        )
