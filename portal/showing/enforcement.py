"""By what each limit of a run was held, in words."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

LIMITS: Mapping[str, str | Promise] = {
    "memory": pgettext_lazy("limit", "memory"),
    "processes": _("processes"),
    "disk": _("disk"),
    "files": pgettext_lazy("limit", "files"),
    "descriptors": _("descriptors"),
    "cpu": _("processors"),
    "network": pgettext_lazy("limit", "network"),
}
WAYS: Mapping[str, str | Promise] = {
    "watchdog": _("watchdog"),
    "affinity": _("processors of its own"),
    "time limit": _("time limit"),
    "namespace": _("namespace of its own"),
    "proxy": _("proxy of its own"),
    "none": _("nothing"),
}
NAMES = frozenset({"cgroup", "rlimit", "seccomp"})  # of the kernel's own means, alike in every language


def held(sandbox: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    """What was limited, and by what."""
    ways = sandbox.get("enforcement") or {}
    return [(str(LIMITS.get(what, what)), str(WAYS.get(way, way))) for what, way in ways.items()]
