"""``manage.py build_runtime NAME``: builds the libraries of a runtime and lists its missing programs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from registry.management.cli import ShellCommand
from worker.dependencies import build, queue
from worker.dependencies.needs import runtime_need
from worker.dependencies.runtimes.lists import NAMES, RuntimeList, runtime_list
from worker.models import DependencyBuild, DependencyBuildState


class Command(ShellCommand):
    help = "Build the libraries of a runtime in this process, and list the programs that this machine lacks."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("runtime", choices=NAMES, help="the runtime")

    def handle(self, *args: Any, **options: Any) -> None:
        self.actor(options)
        name = options["runtime"]
        runtime = runtime_list(name)
        document = _build(runtime) if runtime else {"name": name, "state": "folder"}
        is_incomplete = runtime is not None and not runtime.libraries and bool(runtime.missing_programs)
        ok = document["state"] != DependencyBuildState.FAILED and not is_incomplete
        self.answer(document, _lines(document), as_json=options["json"], ok=ok)


def _build(runtime: RuntimeList) -> dict[str, Any]:
    row = _built_row(runtime) if runtime.libraries else None
    failed = row is not None and row.state == DependencyBuildState.FAILED
    return {
        "name": runtime.name,
        "state": row.state if row else "ready",
        "size": row.size if row else 0,
        "packages": row.packages if row else [],
        "problem": queue.problem_of(row).document() if row and failed else None,
        "log": row.log if row and failed else "",
        "missing_programs": runtime.missing_programs,
        "debian_packages": [runtime.programs[name] for name in runtime.missing_programs],
    }


def _built_row(runtime: RuntimeList) -> DependencyBuild:
    """Returns the build of the runtime's libraries; first runs it unless it is ready or another process runs
    it.
    """
    row = queue.find_or_create(runtime_need(runtime))
    queue.retry(row)
    if lease := queue.claim(row.key, timezone.now()):
        build.run_build(lease)
    return DependencyBuild.objects.get(pk=row.pk)


def _lines(document: dict[str, Any]) -> list[str]:
    if document["state"] == "folder":
        return [f"{document['name']}: SKILLQUAY_RUNTIMES names a folder, so there is nothing to build"]
    lines = [f"{document['name']}: {document['state']}, {document['size']} bytes"]
    lines += [f"  {each['name']} {each['version']} {each['hash']}" for each in document["packages"]]
    if problem := document["problem"]:
        lines += [f"  {problem['code']} {problem['message']}", f"  {problem['remedy']}"]
        lines += [f"  | {line}" for line in document["log"].splitlines()[-20:]]
    if document["missing_programs"]:
        lines.append(f"  Missing programs: {', '.join(document['missing_programs'])}. As root, run:")
        lines.append(f"    apt-get install --no-install-recommends {' '.join(document['debian_packages'])}")
    return lines
