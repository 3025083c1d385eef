"""Renders a version's SKILL.md and its documents in specs/ as HTML."""

from django.urls import reverse
from django.utils.safestring import SafeString

from portal.presenters.cache import BoundedCache
from portal.presenters.content import markdown
from registry.models import Version
from registry.packages.manifest.sections import find_specs
from worker.core.display_budget import CpuTime

READMES: BoundedCache[markdown.Rendered] = BoundedCache(64)


def readme_html(version: Version) -> SafeString:
    """The text of SKILL.md as HTML, cached by the version's digest and the URL of its files.

    The CPU time limit counts from the call. Text that the limit left unformatted is not cached.
    """
    root = _root(version)
    rendered = READMES.get(
        (version.digest, root),
        lambda: _render(version, _without_title(version.body, version.skill.name)),
        keep=lambda rendered: not rendered.ran_out_of_time,
    )
    return rendered.html


def document_html(version: Version, path: str, data: bytes) -> SafeString | None:
    """The document in ``specs/`` as HTML; None for another file."""
    if path not in find_specs([path]):
        return None
    return _render(version, data.decode("utf-8", "replace")).html


def _render(version: Version, text: str) -> markdown.Rendered:
    root = _root(version)
    raw = root.removesuffix("files/") + "raw/"
    return markdown.render_within(
        text,
        paths=version.files.values_list("path", flat=True),
        page=lambda path: root + path,
        raw=lambda path: raw + path,
        cpu=CpuTime(),
    )


def _root(version: Version) -> str:
    return reverse("files", args=[version.skill.team.slug, version.skill.slug, version.number])


def _without_title(body: str, name: str) -> str:
    """The text without a first heading that only repeats the skill's name, the title of the page."""
    first, _, rest = body.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == name else body
