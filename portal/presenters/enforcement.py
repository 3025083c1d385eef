"""Labels for the limits of a run and the mechanisms that enforce them."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from worker.sandbox.enforcement import CHECK_INTERVALS_MS, KERNEL, WATCHDOG

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
    "watchdog": _("checked every %(interval)s ms"),
    "affinity": _("CPU affinity"),
    "time limit": _("no limit except the run's time limit"),
    "namespace": _("separate namespace"),
    "proxy": _("dedicated proxy"),
    "none": _("not enforced"),
}
NAMES = frozenset({"cgroup", "rlimit", "seccomp", "tmpfs", "loop device"})  # the same in every language


def enforcement_rows(sandbox: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    """Pairs of labels: a limit, and the mechanism that enforces it; empty if there is no report."""
    enforcement = sandbox.get("enforcement") or {}
    return [
        (str(LIMITS.get(limit, limit)), _label(limit, mechanism)) for limit, mechanism in enforcement.items()
    ]


def _label(limit: str, mechanism: str) -> str:
    label = str(MECHANISMS.get(mechanism, mechanism))
    if mechanism == WATCHDOG:
        return label % {"interval": CHECK_INTERVALS_MS.get(limit, "?")}
    if mechanism in KERNEL:
        return gettext("enforced by the kernel (%(mechanism)s)") % {"mechanism": label}
    return label
