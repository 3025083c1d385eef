"""``manage.py document_errors``: writes docs/reference/errors.md from the declared codes."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from registry.packages.problems import CODES, Code

PAGE = settings.BASE_DIR / "docs" / "reference" / "errors.md"
HEAD = """# Error codes

This page is for developers who handle errors, and for users who look one up. Every error, failed run,
warning and notice has a stable code. The text can change; the code does not. `manage.py document_errors`
generates the page.

`%(name)s` stands for a value. *HTTP* is the status of the API response; warnings and notices have none and
show their severity. *Retryable* means that the same request can succeed later. The API returns the same list:

    .venv/bin/python manage.py api GET /api/v1/errors/NOT_FOUND

| code | HTTP | message | remedy | retryable |
|---|---|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_row(CODES[name]) for name in sorted(CODES))


def _row(code: Code[...]) -> str:
    status = str(code.http) if code.severity == "error" else code.severity
    retryable = "yes" if code.retryable else "no"
    cells = (f"`{code.name}`", status, code.message, code.remedy, retryable)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


class Command(BaseCommand):
    help = "Write docs/reference/errors.md from the declared error codes."

    def handle(self, *args: Any, **options: Any) -> None:
        PAGE.write_text(page())
