"""``manage.py document_errors``: writes docs/reference/errors.md from the declared codes."""

import re
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation import override

from portal.pages.docs.error_areas import AREAS, ErrorArea
from registry.packages.problems import CODES, Code

PAGE = settings.BASE_DIR / "docs" / "reference" / "errors.md"
HEAD = """# Error codes

This page is for developers who handle errors, and for users who look one up. Every error, failed run,
warning and notice has a stable code. The text can change; the code does not. `manage.py document_errors`
generates the page.

`%(name)s` stands for a value. *HTTP* is the status of the API response; warnings and notices have none and
show their severity. *Retryable* means that the same request can succeed later. The API returns the same list:

    .venv/bin/python manage.py api GET /api/v1/errors/NOT_FOUND

## Areas

"""
TABLE = """| code | HTTP | message | remedy | retryable |
|---|---|---|---|---|
"""


def page() -> str:
    with override("en"):
        contents = "".join(f"- [{area.title}](#{_anchor(area)}): {len(area.codes)} codes\n" for area in AREAS)
        return HEAD + contents + "".join(_section(area) for area in AREAS)


def _anchor(area: ErrorArea) -> str:
    """The id that GitHub gives the heading of the area."""
    return re.sub(r"[^\w\- ]", "", str(area.title).lower()).replace(" ", "-")


def _section(area: ErrorArea) -> str:
    rows = "".join(_row(CODES[name]) for name in area.codes)
    return f"\n## {area.title}\n\n{area.about}\n\n{TABLE}{rows}"


def _row(code: Code[...]) -> str:
    status = str(code.http) if code.severity == "error" else code.severity
    retryable = "yes" if code.retryable else "no"
    cells = (f"`{code.name}`", status, code.message, code.remedy, retryable)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


class Command(BaseCommand):
    help = "Write docs/reference/errors.md from the declared error codes."

    def handle(self, *args: Any, **options: Any) -> None:
        PAGE.write_text(page())
