"""What pages of runs show beside names: a script's Markdown."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from portal import markdown

register = template.Library()


@register.filter
def markdown_text(text: str) -> SafeString:
    """A run's Markdown: nothing in it leads to files, nothing is fetched."""
    return markdown.render(text, paths=(), page=lambda path: path, raw=lambda path: path)
