"""``manage.py document_errors``: docs/errors.md, made from the one list of codes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from registry.packages.problems import CODES, Code

PAGE = settings.BASE_DIR / "docs" / "errors.md"
HEAD = """# Codes

Every refusal, failure and finding has a stable code. This page is written by `manage.py document_errors`.
`%(name)s` stands for the value at hand. *HTTP* is the API's status; *again*: a later try may succeed.

| code | severity | HTTP | again | what it says | what to do |
|---|---|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_row(CODES[name]) for name in sorted(CODES))


def _row(code: Code) -> str:
    again = "yes" if code.retryable else "no"
    cells = (f"`{code.name}`", code.severity, str(code.http), again, code.message, code.remedy)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


class Command(BaseCommand):
    help = "Write docs/errors.md from the list of codes."

    def handle(self, *args: Any, **options: Any) -> None:
        PAGE.write_text(page())
