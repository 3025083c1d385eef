"""``manage.py up``: runs web, worker and reaper under one supervisor with one log."""

import errno
import shutil
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from portal.checks import OPERATOR
from portal.delivery.static_files import collect_static_files
from portal.operations.data_folder import lock_data_folder
from portal.supervisor import Program, Supervisor
from registry.changes import install
from registry.identity import site_key
from registry.models import User
from worker.health.sandbox_report import sandbox_report

GRACE_S = 40  # longer than the 30 s in which a worker finishes its run (worker_soft_shutdown_timeout)


class Command(BaseCommand):
    help = "Serve the site: run web, worker and reaper under one supervisor."
    requires_system_checks = [OPERATOR]

    def handle(self, *args: Any, **options: Any) -> None:
        with lock_data_folder():
            _require_free_port()
            _require_tables()
            _check_key()
            collect_static_files()
            programs = [web_program(), _worker(), _reaper()]
            self.stderr.write(_tier_line())
            self.stderr.write(
                f"Skillquay is running at {settings.SKILLQUAY_PUBLIC_URL} (press Ctrl-C to stop)"
            )
            json_lines = settings.SKILLQUAY_LOG_FORMAT == "json"
            Supervisor(programs, folder=settings.BASE_DIR, grace_s=GRACE_S, json_lines=json_lines).run()


def _require_free_port() -> None:
    """Raises CommandError if the web server can't listen on its port, because it would be restarted
    endlessly.
    """
    where = (settings.SKILLQUAY_BIND, settings.SKILLQUAY_PORT)
    family = socket.AF_INET6 if ":" in settings.SKILLQUAY_BIND else socket.AF_INET
    try:
        socket.create_server(where, family=family).close()
    except OSError as error:
        reason = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        raise CommandError(
            f"Can't listen on {where[0]} port {where[1]}: {reason}. "
            "Set SKILLQUAY_PORT to another port, or SKILLQUAY_BIND to another address."
        ) from None


def _require_tables() -> None:
    """Raises CommandError if the database answers but lacks the site's tables or triggers."""
    try:
        tables = connection.introspection.table_names()
    except DatabaseError:  # the started programs report it and wait
        return
    if User._meta.db_table not in tables:
        raise CommandError("The database is not set up. Run `make run` or `manage.py set_up`.")
    if install.missing_triggers(connection):
        raise CommandError(install.MISSING)


def _tier_line() -> str:
    report = sandbox_report()
    if report["tier"]:
        return f"Scripts run in isolation tier {report['tier']}."
    return f"Runs are refused. {report['reason']}"


def _check_key() -> None:
    """Records this host's key at the site's first start; later raises CommandError if the keys differ."""
    try:
        site_key.record()
        accepted = site_key.is_accepted()
    except DatabaseError:  # the programs report it; the worker checks the key once the database answers
        return
    if not accepted:
        raise CommandError(site_key.MISMATCH)


def web_program() -> Program:
    """The program that runs the web processes at the configured address.

    With several processes, empties the folder in which they share metrics.
    """
    argv = [
        sys.executable,
        "-m",
        "uvicorn",
        "portal.asgi:application",
        "--no-access-log",
        "--no-server-header",
        "--http",
        "portal.streaming.request_timeout:RequestTimeoutProtocol",
    ]
    argv += ["--loop", "asyncio"]  # uvloop reads more at once: 1,000 slow clients hold 95 instead of 60 MB
    argv += ["--host", settings.SKILLQUAY_BIND, "--port", str(settings.SKILLQUAY_PORT)]
    argv += ["--workers", str(settings.SKILLQUAY_WEB_PROCESSES), "--timeout-graceful-shutdown", "5"]
    if settings.SKILLQUAY_TRUSTED_PROXIES:
        argv += ["--proxy-headers", "--forwarded-allow-ips", ",".join(settings.SKILLQUAY_TRUSTED_PROXIES)]
    else:
        argv += ["--no-proxy-headers"]
    return Program("web", argv, _shared_metrics())


def _shared_metrics() -> dict[str, str]:
    """The environment variable that names the folder in which web processes share metrics; {} for one
    process.

    Deletes the folder's old content.
    """
    if settings.SKILLQUAY_WEB_PROCESSES == 1:
        return {}
    folder = settings.SKILLQUAY_VAR / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return {"PROMETHEUS_MULTIPROC_DIR": str(folder)}


def _worker() -> Program:
    argv = [sys.executable, "-m", "celery", "--quiet", "-A", "worker", "worker", "--loglevel", "WARNING"]
    argv += ["--pool", "prefork", "--concurrency", str(settings.SKILLQUAY_WORKERS)]
    argv += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    # Celery warns about root because of pickle; this worker accepts only JSON, and scripts run as other uids.
    quiet = "ignore:You're running the worker with superuser privileges"
    return Program("worker", argv, {"PYTHONWARNINGS": quiet})


def _reaper() -> Program:
    return Program("reaper", [sys.executable, "manage.py", "reap_runs"])
