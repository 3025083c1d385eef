from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from registry.packages.package import Package
    from registry.packages.problems import Problem
    from worker.child_runs.channel import ChildRunner

_ERRORS = (
    "worker.approvals.errors",
    "worker.attempts.errors",
    "worker.child_runs.errors",
    "worker.core.errors",
    "worker.dependencies.errors",
    "worker.executors.errors",
    "worker.files.errors",
    "worker.memory.errors",
    "worker.protocols.errors",
    "worker.quotas.errors",
    "worker.retention.errors",
    "worker.runs.errors",
    "worker.sandbox.errors",
    "worker.script_checks.errors",
)


def _send_task(task: str) -> None:
    """Publishes a wake-up. Imports Celery only here: it loads slowly, and most commands wake no worker."""
    from worker.celery import app

    app.send_task(task, retry=False)


def _count_messages() -> int:
    from worker.celery import count_messages

    return count_messages()


def _child_runner() -> ChildRunner:
    """The runner of child runs; its module, which loads the executors, is imported on first use."""
    from worker.service import child_runner

    return child_runner


def _check_scripts(package: Package) -> tuple[Problem, ...]:
    from worker.script_checks.check_scripts import check_scripts

    return check_scripts(package)


def _check_prompt(package: Package) -> tuple[Problem, ...]:
    from worker.script_checks.prompts import check_prompt

    return check_prompt(package)


def _find_cut_limits(package: Package) -> tuple[Problem, ...]:
    from worker.script_checks.cut_limits import find_cut_limits

    return find_cut_limits(package)


class WorkerConfig(AppConfig):
    name = "worker"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from worker.files import artifacts, inputs
        from worker.retention import erase

        for room in _ERRORS:
            import_module(room)  # declares its codes
        from registry.core.hooks import dependency_state_hook, version_published
        from registry.erasure import hooks
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
        from worker.dependencies.on_publish import enqueue_builds
        from worker.dependencies.status import readiness_of
        from worker.dependencies.store import references as kept_dependencies
        from worker.protocols import entries
        from worker.queue import dispatch
        from worker.runs.event_runs import start_event_run

        referenced_digests.connect(artifacts.references)
        referenced_digests.connect(kept_dependencies)
        version_published.connect(enqueue_builds)
        version_published.connect(wake_for_version)
        callable_scripts.connect(entries.callable_scripts)
        runnable_paths.connect(entries.runnable_paths)
        package_checks.connect(_check_scripts)
        package_checks.connect(_find_cut_limits)
        package_checks.connect(_check_prompt)
        dependency_state_hook.connect(readiness_of)
        queue.import_requested.connect(dispatch.wake_importer)
        referenced_digests.connect(inputs.references)
        run_starter.connect(start_event_run)
        rule_added.connect(apply_rule)
        hooks.version_erased.connect(erase.erase_version)
        hooks.person_exported.connect(erase.export_person)
        hooks.person_erased.connect(erase.erase_person)
        dispatch.task_sender.connect(_send_task)
        dispatch.message_counter.connect(_count_messages)
        channel.runner_provider.connect(_child_runner)
