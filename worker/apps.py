from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from registry.packages.package import Package
    from registry.packages.problems import Problem
    from worker.child_runs.channel import ChildRunner

_ERRORS = (
    "worker.annotations.errors",
    "worker.approvals.errors",
    "worker.attempts.errors",
    "worker.cases.errors",
    "worker.child_runs.errors",
    "worker.core.errors",
    "worker.delivery.errors",
    "worker.dependencies.errors",
    "worker.executors.errors",
    "worker.facades.mcp.errors",
    "worker.failures.errors",
    "worker.files.errors",
    "worker.memory.errors",
    "worker.module_loads.errors",
    "worker.protocols.errors",
    "worker.quotas.errors",
    "worker.retention.errors",
    "worker.run_batches.errors",
    "worker.runs.errors",
    "worker.sandbox.errors",
    "worker.saved_views.errors",
    "worker.schedules.errors",
    "worker.script_checks.errors",
    "worker.sharing.errors",
)


def _send_task(task: str) -> None:
    """Sends the Celery task. Imports Celery here because it loads slowly and most commands don't need it."""
    from worker.celery import app

    app.send_task(task, retry=False)


def _count_messages() -> int:
    from worker.celery import count_messages

    return count_messages()


def _child_runner() -> ChildRunner:
    """Returns the runner of child runs. Imports its module on first use, because that loads the executors."""
    from worker.service import child_runner

    return child_runner


def _check_package(package: Package) -> tuple[Problem, ...]:
    from worker.script_checks.check_package import check_package

    return check_package(package)


def _connect_dependencies() -> None:
    from registry.core import hooks
    from registry.storage.blobs import referenced_digests
    from worker.command_lines.on_publish import ask_again
    from worker.dependencies import store
    from worker.dependencies.on_publish import enqueue_builds
    from worker.dependencies.runtimes import choice
    from worker.dependencies.status import readiness_of
    from worker.module_loads.on_publish import enqueue_loads, enqueue_loads_again
    from worker.module_loads.results import module_loads

    referenced_digests.connect(store.references)
    hooks.version_published.connect(enqueue_builds)
    hooks.version_published.connect(enqueue_loads)
    hooks.additions_changed.connect(choice.enqueue_needs)
    hooks.chosen_runtime_hook.connect(choice.chosen_runtime)
    hooks.dependency_state_hook.connect(readiness_of)
    hooks.module_loads_hook.connect(module_loads)
    choice.environment_changed.connect(enqueue_loads_again)
    choice.environment_changed.connect(ask_again)


def _connect_notifications() -> None:
    from registry.core import hooks
    from worker.delivery import record
    from worker.delivery.sending.messages import memory_message_hook
    from worker.memory.webhook import message_of

    memory_message_hook.connect(message_of)
    hooks.report_filed.connect(record.report_filed)
    hooks.version_held.connect(record.version_held)


def _connect_erasure() -> None:
    from registry.erasure import hooks
    from worker.annotations import erase as annotations
    from worker.delivery import erase as delivery
    from worker.retention import erase
    from worker.run_batches import erase as run_batches
    from worker.saved_views import saved_views
    from worker.schedules import erase as schedules
    from worker.sharing import erase as sharing

    hooks.version_erased.connect(erase.erase_version)
    for room in (erase, sharing, annotations, schedules, delivery, run_batches, saved_views):
        hooks.person_exported.connect(room.export_person)
        hooks.person_erased.connect(room.erase_person)


class WorkerConfig(AppConfig):
    name = "worker"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from worker.files import artifacts, inputs

        for room in _ERRORS:
            import_module(room)  # declares its codes
        from registry.changes.watched_tables import watch
        from registry.core.hooks import version_published
        from registry.events.receive import run_starter
        from registry.imports import queue
        from registry.rules.edit import rule_added
        from registry.storage.blobs import referenced_digests
        from registry.versions.publishing.checks import package_checks
        from registry.versions.publishing.command_lines import callable_scripts
        from registry.versions.publishing.script_needs import runnable_paths
        from worker.approvals.decide import apply_rule
        from worker.child_runs import channel
        from worker.command_lines.on_publish import wake_for_version
        from worker.protocols import entries
        from worker.queue import dispatch
        from worker.runs.event_runs import start_event_run
        from worker.schedules import erase as schedules
        from worker.watched_tables import UNWATCHED, WATCHED

        watch(WATCHED, UNWATCHED)
        _connect_dependencies()
        _connect_notifications()
        _connect_erasure()
        referenced_digests.connect(artifacts.references)
        version_published.connect(wake_for_version)
        callable_scripts.connect(entries.callable_scripts)
        runnable_paths.connect(entries.runnable_paths)
        package_checks.connect(_check_package)
        queue.import_requested.connect(dispatch.wake_importer)
        referenced_digests.connect(inputs.references)
        referenced_digests.connect(schedules.references)
        run_starter.connect(start_event_run)
        rule_added.connect(apply_rule)
        dispatch.task_sender.connect(_send_task)
        dispatch.message_counter.connect(_count_messages)
        channel.runner_provider.connect(_child_runner)
