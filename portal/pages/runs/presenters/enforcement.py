"""Labels for the limits of a run and the mechanisms that enforced them."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

LIMITS: Mapping[str, str | Promise] = {
    "memory": pgettext_lazy("limit", "memory"),
    "processes": _("processes"),
    "disk": _("disk"),
    "files": pgettext_lazy("limit", "files"),
    "descriptors": _("file descriptors"),
    "cpu": _("CPUs"),
    "network": pgettext_lazy("limit", "network"),
}
MECHANISMS: Mapping[str, str | Promise] = {
    "watchdog": _("watchdog"),
    "affinity": _("assigned CPUs"),
    "time limit": _("time limit"),
    "namespace": _("separate namespace"),
    "proxy": _("dedicated proxy"),
    "none": _("nothing"),
}
NAMES = frozenset({"cgroup", "rlimit", "seccomp"})  # kernel mechanisms, the same in every language


def enforcement_rows(sandbox: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    """Each limit and its mechanism, as labels."""
    enforcement = sandbox.get("enforcement") or {}
    return [
        (str(LIMITS.get(limit, limit)), str(MECHANISMS.get(mechanism, mechanism)))
        for limit, mechanism in enforcement.items()
    ]
