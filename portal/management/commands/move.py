"""``manage.py move``: copies the site to another database and storage, and verifies the copy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connections

from portal.operations.data_folder import lock_data_folder
from portal.settings import database_settings
from portal.supervisor import terminate_with_parent
from registry.management.cli import USAGE_ERROR, ShellCommand
from registry.management.progress import ProgressPrinter
from registry.storage import blobs
from registry.transfer.blobs import StorageSource
from registry.transfer.copy import copy_site, document
from registry.transfer.database import DatabaseTarget, snapshot
from worker.health import heartbeats

_TARGET = "transfer-target"
_PAUSES_S = (2, 5, 0)  # after each attempt
_SCHEMES = ("postgres", "postgresql", "sqlite")


class Command(ShellCommand):
    help = (
        "Copy the stopped site to another database and, with --storage, to another storage. The command does "
        "not change the source. Repeat an interrupted command to continue the copy."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--to", required=True, metavar="DATABASE_URL", help="the empty database to copy to"
        )
        parser.add_argument(
            "--storage", metavar="STORAGE_URL", help="also copy all stored files to this S3 bucket and prefix"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _check(options)
        storage = options["storage"] if options["storage"] is not None else settings.STORAGE_URL
        environment = {**os.environ, "DATABASE_URL": options["to"], "STORAGE_URL": storage}
        progress = ProgressPrinter()
        with lock_data_folder(), snapshot() as source:
            _require_stopped()
            _manage(environment, "migrate", "--verbosity", "0", "--no-input")
            target = DatabaseTarget(_connect(options["to"]))
            result = copy_site(
                source,
                StorageSource(blobs.backend()) if options["storage"] is not None else None,
                target,
                blobs.backend_for(storage),
                expected={},
                on_progress=progress,
            )
            _manage(environment, "reindex_skills", "--all", "--json")
            target.finish()
        lines = [
            f"Copied {result.rows} rows and {result.blobs} blobs. Counts and digests match the source.",
            "Set DATABASE_URL"
            + (" and STORAGE_URL" if options["storage"] is not None else "")
            + " to the new addresses, keep the keys, run manage.py set_up, and start the site.",
            "The source is unchanged. Don't start the site with it again.",
        ]
        self.answer(document(result), lines, as_json=options["json"], ok=True)


def _check(options: dict[str, Any]) -> None:
    if urlsplit(options["to"]).scheme not in _SCHEMES:
        raise CommandError(
            "The value of --to is not a database address. Use an address such as postgres://…",
            returncode=USAGE_ERROR,
        )
    if options["storage"] and urlsplit(options["storage"]).scheme != "s3":
        raise CommandError(
            "The value of --storage is not a storage address. Use an address such as s3://bucket/prefix.",
            returncode=USAGE_ERROR,
        )
    if options["to"] == settings.DATABASE_URL:
        raise CommandError(
            "Can't copy the site to its own database. Choose another database for --to.",
            returncode=USAGE_ERROR,
        )


def _require_stopped() -> None:
    alive = [process.name for process in heartbeats.processes() if process.is_alive]
    if alive:
        raise CommandError(
            f"Can't copy the site while it is running: {', '.join(alive)}. Stop these processes, then repeat "
            "the command after a minute."
        )


def _connect(address: str) -> str:
    connections.databases[_TARGET] = connections.configure_settings({"default": database_settings(address)})[
        "default"
    ]
    return _TARGET


def _manage(environment: dict[str, str], *arguments: str) -> None:
    """Runs a command of this release on the target. Raises CommandError if it fails repeatedly.

    Retries, because the last statement of a killed move may still run in PostgreSQL and block a migration.
    """
    argv = [sys.executable, "manage.py", *arguments]
    for pause_s in _PAUSES_S:
        ended = subprocess.run(
            argv,
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=subprocess.DEVNULL,
            check=False,
            preexec_fn=terminate_with_parent(os.getpid()),
        )
        if not ended.returncode:
            return
        time.sleep(pause_s)
    raise CommandError(
        f"{arguments[0]} failed on the target. Fix the error shown above, then repeat the command."
    )
