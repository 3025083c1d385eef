"""The Celery app: ``celery -A worker worker``. The broker only wakes workers; the database is the queue."""

import ctypes
import hashlib
import os
import signal
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import celeryd_init, worker_process_init, worker_process_shutdown, worker_ready
from celery.utils.nodenames import default_nodename
from kombu import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# System checks load every page, and Celery ignores their results.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

from worker.core.host import host_name
from worker.queue.transport import ALIAS, folders

_PR_SET_PDEATHSIG = 1
_MAX_RETRY_S = 2
# Time besides the script: unpacking, recording, and collecting files, which can wait for a lost storage.
_TASK_MARGIN_S = 900


def _broker() -> dict[str, Any]:
    if settings.REDIS_URL:
        options: dict[str, Any] = {"socket_connect_timeout": 1, "socket_timeout": 5, "max_retries": 0}
        return {"broker_url": settings.REDIS_URL, "broker_transport_options": options}
    options = {"store_processed": True, **folders(settings.SKILLQUAY_VAR)}
    return {"broker_url": f"{ALIAS}://localhost", "broker_transport_options": options}


def _queue() -> str:
    """The name of the site's queue. Two sites with one Redis must not receive each other's wake-ups."""
    return "skillquay-" + hashlib.sha256(f"queue:{settings.SECRET_KEY}".encode()).hexdigest()[:12]


class _Connection(Connection):
    """A connection that tries to reach a lost broker every few seconds; kombu's own pauses grow to half a
    minute.
    """

    def _ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super()._ensure_connection(*args, **{"interval_max": _MAX_RETRY_S, **kwargs})


class _Amqp(AMQP):
    Connection = _Connection


app = Celery("worker", amqp=_Amqp)
app.conf.update(
    **_broker(),
    include=["worker.service.tasks"],
    accept_content=["json"],
    task_serializer="json",
    task_acks_late=False,  # a message only wakes a worker, so a lost or repeated message does no harm
    task_ignore_result=True,
    task_default_queue=_queue(),
    task_time_limit=settings.SKILLQUAY_MAX_RUN_SECONDS + _TASK_MARGIN_S,
    worker_concurrency=settings.SKILLQUAY_WORKERS,
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=200,
    worker_soft_shutdown_timeout=30,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_connection_timeout=2,
    broker_heartbeat=0,
    timezone="UTC",
)


def count_messages() -> int:
    """The number of this site's messages in the broker that no worker has fetched."""
    with app.connection_for_write() as connection:
        queue: Any = app.amqp.queues[app.conf.task_default_queue](connection.default_channel)
        return int(queue.queue_declare().message_count)


@celeryd_init.connect
def _name_node(instance: Any, **kwargs: object) -> None:
    """Gives each worker on this host a unique name, unless ``--hostname`` sets one."""
    if instance.hostname == default_nodename(""):
        instance.hostname = f"worker-{os.getpid()}@{host_name()}"


@worker_ready.connect
def _wake_on_signals(sender: Any, **kwargs: object) -> None:
    """Makes signals interrupt the wait of the event loop, which Python would otherwise resume."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sender.hub.add_reader(reading, os.read, reading, 512)


@worker_process_init.connect
def _die_with_parent(**kwargs: object) -> None:
    """Makes the kernel kill this child process when its worker dies, so that the child claims no more runs.

    Also undoes ``_wake_on_signals``: the child has no event loop.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)


@worker_process_shutdown.connect
def _exit_immediately(exitcode: int, **kwargs: object) -> None:
    """Exits at once, because billiard would first let the child sleep for a second."""
    os._exit(exitcode)
