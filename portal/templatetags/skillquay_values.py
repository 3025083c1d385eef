"""What pages of runs show beside names: a script's Markdown."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from portal.showing import markdown
from portal.templatetags.skillquay import milliseconds

register = template.Library()


@register.filter
def step_time(value: float | None) -> str:
    """A step's duration, given in milliseconds: short ones matter here."""
    if value is None or value >= 1000:
        return milliseconds(value)
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


@register.filter
def markdown_text(text: str) -> SafeString:
    """A run's Markdown: nothing in it leads to files, nothing is fetched."""
    return markdown.render(text, paths=(), page=lambda path: path, raw=lambda path: path)
