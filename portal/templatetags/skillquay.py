"""What templates say often: icons, statuses, times, sizes, and a stranger's text made harmless."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext, pgettext

from portal.showing.icons import ICONS
from portal.showing.reasons import FIELDS, KINDS
from portal.showing.status import TONES
from portal.showing.texts import mark_hidden, visible
from registry.matching import Reason

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """One of ``portal.showing.icons``: decoration; a word always stands beside it."""
    return format_html(
        '<svg class="icon{}" viewBox="0 0 16 16" aria-hidden="true">{}</svg>',
        " spin" if name == "running" else "",
        mark_safe(ICONS[name]),
    )


@register.simple_tag
def badge(tone: str, icon_name: str, text: object) -> SafeString:
    """Icon, word and colour together; tones: ok warn bad running info quiet."""
    return format_html('<span class="badge {}">{} {}</span>', tone, icon(icon_name), text)


@register.simple_tag
def status(value: str) -> SafeString:
    """The badge of a run's status, a step's status or a problem's severity."""
    tone, icon_name, label = TONES.get(value, ("quiet", "dot", value))
    return badge(tone, icon_name, str(label))


# A stranger's text ---------------------------------------------------------------------------------------
@register.filter
def plain(value: object) -> SafeString:
    """A stranger's name or sentence: escaped, isolated in direction, with nothing hidden in it."""
    return mark_safe(f"<bdi>{mark_hidden(str(escape('' if value is None else value)))}</bdi>")


@register.filter
def seen(value: object) -> str:
    """``plain`` for titles and attributes, where no element can stand."""
    return visible(str("" if value is None else value)).replace("\n", " ")


# Times and sizes -----------------------------------------------------------------------------------------
@register.simple_tag(takes_context=True)
def when(context: template.Context, moment: datetime | None) -> SafeString:
    """How long ago, with the exact time in the reader's zone on hover."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    ago = timesince(moment, depth=1)
    text = gettext("just now") if (timezone.now() - moment).total_seconds() < 60 else _ago(ago)
    return _time(context, moment, text)


@register.simple_tag(takes_context=True)
def day(context: template.Context, moment: datetime | None) -> SafeString:
    """The date, with the exact time in the reader's zone on hover."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    return _time(context, moment, date_format(moment.astimezone(_zone(context)), "Y-m-d"))


@register.simple_tag(takes_context=True)
def exact(context: template.Context, moment: datetime | None) -> SafeString:
    """Date and time in the reader's zone."""
    if moment is None:
        return mark_safe('<span class="muted">–</span>')
    return _time(context, moment, _exact(moment, _zone(context)))


def _ago(ago: str) -> str:
    return gettext("%(time)s ago") % {"time": ago}


def _time(context: template.Context, moment: datetime, text: str) -> SafeString:
    title = _exact(moment, _zone(context))
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(timespec="seconds"), title, text
    )


def _exact(moment: datetime, zone: ZoneInfo) -> str:
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S ") + zone.key


_ZONES = available_timezones()


def _zone(context: template.Context) -> ZoneInfo:
    """The zone that the reader's browser named in a cookie, else UTC."""
    request: Any = context.get("request")
    name = request.COOKIES.get("zone", "UTC").replace("%2F", "/") if request else "UTC"
    return ZoneInfo(name if name in _ZONES else "UTC")


@register.filter
def duration(seconds: float | None) -> str:
    """``0.42 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if seconds is None:
        return "–"
    if seconds < 60:
        digits = 2 if seconds < 1 else 1 if seconds < 10 else 0
        return pgettext("seconds", "%(n)s s") % {"n": f"{seconds:.{digits}f}"}
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60 and not rest:
        return pgettext("duration", "%(minutes)s min") % {"minutes": minutes}
    if minutes < 60:
        return pgettext("duration", "%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
    hours, minutes = divmod(minutes, 60)
    return pgettext("duration", "%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": minutes}


@register.filter
def milliseconds(value: float | None) -> str:
    """A duration that is given in milliseconds."""
    return "–" if value is None else duration(value / 1000)


@register.filter
def size(count: int | None) -> str:
    """``512 B``, ``1.4 kB``, ``20 MB``: decimal units, as download pages count."""
    if count is None:
        return "–"
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


@register.filter
def short_digest(digest: str) -> str:
    """The first twelve digits of ``sha256:…``."""
    return digest.removeprefix("sha256:")[:12]


@register.simple_tag(takes_context=True)
def link_with(context: template.Context, **changes: object) -> str:
    """The present page's query with some parameters changed; None or "" takes one away."""
    query = context["request"].GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value not in (None, ""):
            query[name] = str(value)
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def link_choosing(context: template.Context, name: str, value: str = "") -> str:
    """The present page's query from its first page, with one filter set or taken away."""
    return link_with(context, **{name: value, "page": ""})


@register.filter
def at(found: Mapping[object, object] | None, key: object) -> object:
    return found.get(key) if found else None


# Why something was found ---------------------------------------------------------------------------------
@register.simple_tag
def field_name(name: str) -> str:
    """A field of a skill, in words."""
    return str(FIELDS.get(name, name))


@register.simple_tag
def reason_kind(reason: Reason) -> str:
    return str(KINDS.get(reason.kind, reason.kind))


@register.simple_tag
def said(reason: Reason, sentence: str) -> SafeString:
    """The words of the sentence that a reason is about."""
    return plain(sentence[reason.start : reason.end])
