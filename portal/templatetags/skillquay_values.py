"""Filters for run pages: step durations and Markdown."""

from django import template
from django.utils.safestring import SafeString

from portal.presenters.content import markdown
from portal.templatetags.skillquay import milliseconds

register = template.Library()


@register.filter
def step_time(value: float | None) -> str:
    """A step's duration; below one second in milliseconds."""
    if value is None or value >= 1000:
        return milliseconds(value)
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


@register.filter
def markdown_text(text: str) -> SafeString:
    """Markdown of a run as HTML, without links to files and without external requests."""
    return markdown.render(text, paths=(), page=lambda path: path, raw=lambda path: path)
