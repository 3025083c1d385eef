"""Tags and filters for run pages: step durations, JSON trees and Markdown."""

from collections.abc import Iterator

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import ngettext, pgettext

from portal.presenters.content import markdown
from portal.presenters.results import Node
from portal.templatetags.skillquay import milliseconds, plain
from worker.core.display_budget import CpuTime

register = template.Library()


@register.filter
def step_time(value: float | None) -> str:
    """A step's duration in milliseconds as text; below one second as ``250 ms``."""
    if value is None or round(value) >= 1000:
        return milliseconds(value)
    digits = 0 if round(value, 1) >= 10 else 1
    number = "< 0.1" if 0 < value < 0.05 else f"{value:.{digits}f}"
    return pgettext("milliseconds", "%(n)s ms") % {"n": number}


@register.simple_tag(takes_context=True)
def markdown_text(context: template.Context, text: str) -> SafeString:
    """Untrusted Markdown as HTML, without links to package files and without images.

    All texts of a page share one limit of CPU time.
    """
    cpu = vars(context["request"]).setdefault("display_cpu", CpuTime())
    return markdown.render(text, paths=(), page=lambda path: path, raw=lambda path: path, cpu=cpu)


@register.filter
def json_tree(node: Node) -> SafeString:
    """A JSON tree as list items, without braces around an object at its root.

    Built in Python, because a template takes ten times as long.
    """
    items = node.children if node.kind == "object" and node.children else (node,)
    return mark_safe("".join(piece for item in items for piece in _items(item)))


def _items(node: Node) -> Iterator[str]:
    key = f'<span class="key">{plain(node.key)}</span> ' if node.key else ""
    if node.kind == "cut":
        more = ngettext("… %(n)s more in the JSON", "… %(n)s more in the JSON", node.size) % {"n": node.size}
        yield f'<li>{key}<span class="muted">{more}</span></li>'
    elif node.kind not in ("object", "array"):
        yield f'<li>{key}<span class="{node.kind} wrapped">{plain(node.text)}</span></li>'
    elif not node.children:
        yield f'<li>{key}<span class="muted">{"{ }" if node.kind == "object" else "[ ]"}</span></li>'
    else:
        size = f"{{ {node.size} }}" if node.kind == "object" else f"[ {node.size} ]"
        opened = " open" if node.open else ""
        yield f'<li><details{opened}><summary>{key}<span class="muted">{size}</span></summary><ul>'
        for child in node.children:
            yield from _items(child)
        yield "</ul></details></li>"
