"""Template tags and filters: icons, statuses, times, sizes, and safe output of untrusted text."""

import re
from collections.abc import Iterable, Mapping, Sized
from datetime import datetime
from functools import cache
from itertools import islice
from zoneinfo import ZoneInfo

from django import template
from django.forms import BoundField
from django.forms.widgets import ChoiceWidget
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html, strip_spaces_between_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext, ngettext_lazy, pgettext

from portal.context import reader_zone
from portal.presenters.content import punctuation
from portal.presenters.content.cron import cron_words
from portal.presenters.content.text import mark_hidden, visible
from portal.presenters.content.units import duration
from portal.presenters.explanations import group_title
from portal.presenters.icons import ICONS
from portal.presenters.reasons import FIELDS, KINDS
from portal.presenters.skill.kind import KINDS as KINDS_OF_SKILLS
from portal.presenters.skill.kind import SkillKind, kind_of
from portal.presenters.status import TONES
from registry.matching.match import MatchReason
from registry.models import Skill
from registry.packages.problems import CODES
from worker.core.display_budget import MAX_CELL, MAX_ROWS

register = template.Library()
register.filter(cron_words)
register.filter(duration)
register.filter(group_title)
register.filter(punctuation.listed)
_DOCUMENT = re.compile(r"\bdocs/([a-z0-9/-]+)\.md(#[\w-]+)?")
_INDENTATION = re.compile(r"\s*\n\s*")
_BACKTICKS = re.compile(r"`([^`<>]+)`")
_AGES = {
    "year": ngettext_lazy("%(num)d year", "%(num)d years", "num"),
    "month": ngettext_lazy("%(num)d month", "%(num)d months", "num"),
    "week": ngettext_lazy("%(num)d week", "%(num)d weeks", "num"),
    "day": ngettext_lazy("%(num)d day", "%(num)d days", "num"),
    "hour": ngettext_lazy("%(num)d hour", "%(num)d hours", "num"),
    "minute": ngettext_lazy("%(num)d minute", "%(num)d minutes", "num"),
}


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """An icon of ``portal.presenters.icons``. Screen readers ignore it, so put it next to a label."""
    return format_html(
        '<svg class="icon{}" viewBox="0 0 16 16" aria-hidden="true">{}</svg>',
        " spin" if name == "running" else "",
        mark_safe(ICONS[name]),
    )


@register.simple_tag
def badge(tone: str, icon_name: str, text: object) -> SafeString:
    """A badge with icon and text, or a colored icon without text.

    ``tone`` sets the color: ok, warn, bad, running, info or quiet.
    """
    if not text:
        return format_html('<span class="lone {}">{}</span>', tone, icon(icon_name))
    return format_html('<span class="badge {}">{} {}</span>', tone, icon(icon_name), text)


@register.simple_tag
def status(value: str) -> SafeString:
    """The badge of a value in ``TONES``, such as a run's status; for other values, a badge with the value."""
    tone, icon_name, label = TONES.get(value, ("quiet", "dot", value))
    return format_html(
        '<span class="badge {}" data-state="{}">{} {}</span>', tone, value, icon(icon_name), str(label)
    )


# Untrusted text ---------------------------------------------------------------------------------------
@register.filter
def plain(value: object) -> SafeString:
    """Untrusted text as safe HTML: escaped, hidden characters shown, writing direction isolated."""
    return mark_safe(f"<bdi>{mark_hidden(str(escape('' if value is None else value)))}</bdi>")


@register.filter
def marked(value: object) -> SafeString:
    """Formats the platform's sentences as ``plain`` does, shows text between backticks as code, and links
    documents such as ``docs/start.md``.
    """
    html = _BACKTICKS.sub(r"<code>\1</code>", plain(value))
    return mark_safe(_DOCUMENT.sub(lambda found: _document_link(*found.groups("")), html))


def _document_link(name: str, anchor: str) -> str:
    return f'<a href="{reverse("doc", args=[name])}{anchor}">docs/{name}.md</a>'


@register.filter
def code_link(code: object) -> SafeString:
    """An error code as a link to its page in the docs; codes of skills, which have no page, as plain code."""
    return docs_link(code) or mark_safe(f"<code>{plain(code)}</code>")


@register.filter
def docs_link(code: object) -> SafeString:
    """A link to the page of an error code; "" for other values, such as the codes of Django's forms."""
    if str(code) not in CODES:
        return mark_safe("")
    return format_html('<a href="{}"><code>{}</code></a>', reverse("error-code", args=[code]), code)


@register.filter
def plain_attr(value: object) -> str:
    """Untrusted text in one line for titles and attributes, with hidden characters written as codes."""
    return visible(str("" if value is None else value)).replace("\n", " ")


@register.filter
def shortened(value: object) -> str:
    """The first ``MAX_CELL`` characters of a value, followed by "…" if it is longer."""
    text = str(value)
    return text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"


@register.filter
def first_rows(rows: Iterable[object]) -> list[object]:
    """The first ``MAX_ROWS`` rows, for lists of any length from authors or scripts."""
    return list(islice(rows, MAX_ROWS))


@register.filter
def omitted_rows(rows: Sized | None) -> int:
    """The number of rows that ``first_rows`` leaves out."""
    return max(0, len(rows or ()) - MAX_ROWS)


@register.filter
def collapsed(html: str) -> SafeString:
    """The HTML of a block with each line break and its indentation as one line break, which browsers show
    alike. Not for blocks with preformatted text.
    """
    return mark_safe(_INDENTATION.sub("\n", html))


@register.filter
def unindented(html: SafeString) -> SafeString:
    """The HTML of a block without white space between tags and before lines, a third of a long list."""
    return collapsed(strip_spaces_between_tags(html))


# Punctuation -------------------------------------------------------------------------------------------
@register.simple_tag
def colon() -> str:
    """The punctuation between a label and its value. No white space may follow the tag."""
    return pgettext("label", ": ")


@register.simple_tag
def comma() -> str:
    """The punctuation between the items of a list. No white space may follow the tag."""
    return pgettext("list", ", ")


@register.filter
def aside(value: object) -> SafeString:
    """The value in parentheses, with the space that the language puts before them."""
    text = value if isinstance(value, SafeString) else escape(str(value))
    return mark_safe(punctuation.with_aside("", text))


@register.tag
def prose(parser: template.base.Parser, _token: template.base.Token) -> template.Node:
    """``{% prose %} … {% endprose %}``: a text of several parts, in Chinese without white space next to
    full-width punctuation. Not for preformatted text.
    """
    nodes = parser.parse(("endprose",))
    parser.delete_first_token()
    return _Prose(nodes)


class _Prose(template.Node):
    def __init__(self, nodes: template.NodeList) -> None:
        self.nodelist = nodes

    def render(self, context: template.Context) -> SafeString:
        return mark_safe(punctuation.close_up(self.nodelist.render(context).strip()))


# Times and sizes -----------------------------------------------------------------------------------------
@register.simple_tag(takes_context=True)
def when(context: template.Context, moment: datetime | None) -> SafeString:
    """The time since ``moment``; on hover, the exact time in the reader's time zone. "–" for None."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    return _time(context, moment, _since(moment, _now(context)))


@register.simple_tag(takes_context=True)
def clock(
    context: template.Context,
    moment: datetime | None,
    *,
    ago: bool = True,
    seconds: bool = False,
    dated: bool = False,
) -> SafeString:
    """The time in the reader's time zone; unless it is today, or with ``dated``, with the date; with ``ago``,
    also the time since then.
    """
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    zone = _zone(context)
    local, now = moment.astimezone(zone), _now(context)
    time = "H:i:s" if seconds else "H:i"
    is_short = not dated and local.date() == now.astimezone(zone).date()
    text = date_format(local, time if is_short else f"Y-m-d {time}")
    if not ago:
        return _time(context, moment, text)
    return _time(context, moment, f"{text} · {_since(moment, now)}")


@register.simple_tag(takes_context=True)
def day(context: template.Context, moment: datetime | None) -> SafeString:
    """The date; on hover, the exact time in the reader's time zone. "–" for None."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    return _time(context, moment, date_format(moment.astimezone(_zone(context)), "Y-m-d"))


@register.simple_tag(takes_context=True)
def exact(context: template.Context, moment: datetime | None) -> SafeString:
    """Date and time in the reader's time zone; "–" for None."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    return _time(context, moment, _exact(moment, _zone(context)))


@register.simple_tag(takes_context=True)
def in_zone(context: template.Context, moment: datetime, zone: str) -> SafeString:
    """Weekday, date and time in ``zone``; on hover, the exact time in the reader's time zone."""
    return _time(context, moment, date_format(moment.astimezone(ZoneInfo(zone)), "D Y-m-d H:i"))


@register.simple_tag(takes_context=True)
def until(context: template.Context, moment: datetime) -> str:
    """The time until ``moment``, such as "in 7 hours"."""
    now = _now(context)
    if (moment - now).total_seconds() < 60:
        return gettext("in less than a minute")
    time = timeuntil(moment, now, depth=1, time_strings=_AGES)  # type: ignore[arg-type]  # lazy texts
    return gettext("in %(time)s") % {"time": time}


def _now(context: template.Context) -> datetime:
    """The current time. Raises an error in a fragment, whose HTML must not depend on the time."""
    context.get("request")  # fragments refuse it
    return timezone.now()


def _since(moment: datetime, now: datetime) -> str:
    if (now - moment).total_seconds() < 60:
        return gettext("just now")
    age = timesince(moment, depth=1, time_strings=_AGES)  # type: ignore[arg-type]  # lazy texts, as Django's
    return gettext("%(time)s ago") % {"time": age}


def _time(context: template.Context, moment: datetime, text: str) -> SafeString:
    title = _exact(moment, _zone(context))
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(timespec="seconds"), title, text
    )


def _exact(moment: datetime, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S ") + zone.key


def _zone(context: template.Context) -> ZoneInfo:
    zone = context.get("reader_zone")
    return ZoneInfo(zone) if zone else reader_zone(context.get("request"))


@register.filter
def milliseconds(value: float | None) -> str:
    """A number of milliseconds as text such as ``3 min 5 s``; "–" for None."""
    return "–" if value is None else duration(value / 1000)


@register.filter
def size(count: int | None) -> str:
    """A number of bytes as text in decimal units, such as ``512 B``, ``1.4 kB``, ``20 MB``; "–" for None."""
    if count is None:
        return "–"
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if round(amount) < 1000:
            digits = 0 if unit == "B" or round(amount, 1) >= 10 else 1
            return f"{amount:.{digits}f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


@register.filter
def short_digest(digest: str) -> str:
    """The first 12 hexadecimal digits of a digest, without ``sha256:``."""
    return digest.removeprefix("sha256:")[:12]


@register.simple_tag(takes_context=True)
def link_with(context: template.Context, **changes: object) -> str:
    """The current query string with the parameters in ``changes`` set; None or "" removes a parameter."""
    text = context.get("query_string")  # of fragments
    query = QueryDict(text, mutable=True) if text is not None else context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def link_to_page(context: template.Context, number: int, parameter: str = "") -> str:
    """The current query string with the page number set in ``parameter``, "page" by default."""
    return link_with(context, **{parameter or "page": number})


@register.simple_tag(takes_context=True)
def link_for_filter(context: template.Context, name: str, value: str = "") -> str:
    """The current query string with one filter set (removed if ``value`` is "") and without ``page``."""
    return link_with(context, **{name: value, "page": ""})


@register.filter
def at(mapping: Mapping[object, object] | None, key: object) -> object:
    """Returns ``mapping[key]``; None if the key is missing or ``mapping`` is empty or None."""
    return mapping.get(key) if mapping else None


@register.filter
def kind(skill: Skill) -> SkillKind:
    """The kind of the skill, for ``components/kind.html``."""
    return kind_of(skill)


@register.filter
def kind_named(name: str) -> SkillKind:
    """The kind with this name, for ``components/kind.html``."""
    return KINDS_OF_SKILLS[name]


# Match reasons ---------------------------------------------------------------------------------
@register.simple_tag
def field_name(name: str) -> str:
    """The label of a field that a match reason names; the name itself if it has no label."""
    return str(FIELDS.get(name, name))


@register.simple_tag
def reason_kind(reason: MatchReason) -> str:
    return str(KINDS.get(reason.kind, reason.kind))


@register.simple_tag
def matched_words(reason: MatchReason, sentence: str) -> SafeString:
    """The words of the sentence that a match reason refers to."""
    return plain(sentence[reason.start : reason.end])


@register.filter
def is_optional(field: BoundField) -> bool:
    """Whether the user can leave the field empty: it is not required, and a choice has an empty option."""
    widget = field.field.widget
    if field.field.required or not isinstance(widget, ChoiceWidget) or widget.allow_multiple_selected:
        return not field.field.required
    return next(iter(widget.choices), ("",))[0] in ("", None)
