"""The text of a version's SKILL.md as HTML."""

from django.urls import reverse
from django.utils.safestring import SafeString

from portal.presenters.cache import BoundedCache
from portal.presenters.content import markdown
from registry.models import Version
from worker.core.display_budget import CpuTime

READMES: BoundedCache[markdown.Rendered] = BoundedCache(64)


def readme_html(version: Version) -> SafeString:
    """The text of SKILL.md as HTML, cached by the version's digest and the URL of its files.

    The limit of CPU time starts with the call. A text that was cut at the limit is not cached.
    """
    skill = version.skill
    root = reverse("files", args=[skill.team.slug, skill.slug, version.number])
    raw = root.removesuffix("files/") + "raw/"
    rendered = READMES.get(
        (version.digest, root),
        lambda: markdown.render_within(
            _without_title(version.body, skill.name),
            paths=version.files.values_list("path", flat=True),
            page=lambda path: root + path,
            raw=lambda path: raw + path,
            cpu=CpuTime(),
        ),
        keep=lambda rendered: not rendered.ran_out_of_time,
    )
    return rendered.html


def _without_title(body: str, name: str) -> str:
    """The text without a first heading that only repeats the skill's name, the title of the page."""
    first, _, rest = body.lstrip().partition("\n")
    return rest if first.startswith("# ") and first[2:].strip() == name else body
