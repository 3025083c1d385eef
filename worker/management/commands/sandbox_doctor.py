"""``manage.py sandbox_doctor``: attacks every isolation tier of this machine and reports the results."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from worker.core.sandbox_settings import sandbox_settings
from worker.sandbox.doctor import examine as doctor
from worker.sandbox.enforcement import CHECK_INTERVALS_MS, KERNEL, WATCHDOG


class Command(BaseCommand):
    help = "Attack every isolation tier of this machine and show which attacks it stops."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document only")

    def handle(self, *args: Any, **options: Any) -> None:
        document = doctor.examine_tiers(sandbox_settings())
        if options["json"]:
            self.stdout.write(json.dumps(document, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_table(document)))
        if not doctor.is_sound(document):
            sys.exit(1)


def _describe(limit: str, how: str) -> str:
    if how == WATCHDOG:
        return f"checked every {CHECK_INTERVALS_MS[limit]} ms"
    return f"enforced by the kernel ({how})" if how in KERNEL else how


def _table(document: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for tier in document["tiers"]:
        lines.append(f"{tier['name']}: {'usable' if tier['usable'] else 'not usable: ' + tier['reason']}")
        lines += [f"  fix: {tier['fix']}"] if tier["fix"] else []
        lines += [f"  {limit}: {_describe(limit, how)}" for limit, how in tier["enforcement"].items()]
        lines += [f"  no scratch space: {tier['scratch_reason']}"] if tier["scratch_reason"] else []
        for check in tier["checks"]:
            lines.append(
                f"  {'ok  ' if check['passed'] else 'FAIL'} {check['attack']:<52} {check['detail'][:90]}"
            )
        lines += [f"  --   {skipped['attack']:<52} {skipped['reason']}" for skipped in tier["not_tried"]]
    lines += [f"missing {name}: {fix}" for name, fix in document["missing"].items()]
    return lines
