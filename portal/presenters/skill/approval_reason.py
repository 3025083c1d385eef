"""Explains in one sentence why a run needs approval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext_lazy, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from portal.presenters.results import one_line
from registry.packages.unsafe_properties import SCRIPTS_PROPERTY
from worker.models import Approval

_MAX_NAMES = 3  # number of names per kind of permission
_MAX_LENGTH = 60  # length at which a name is cut

READ_ONLY = pgettext_lazy("file access", "read-only")
SCRIPTS_PHRASE = _("runs scripts")
# Kind of permission -> how the skill uses it.
_PHRASES: dict[str, Promise] = {
    "hosts": _("connects to %(names)s"),
    "filesystem": _("accesses files (%(names)s)"),
    "environment": _("sets the environment variables %(names)s"),
    "secrets": ngettext_lazy("uses the secret %(names)s", "uses the secrets %(names)s", "n"),
    "tools": ngettext_lazy("uses the agent tool %(names)s", "uses the agent tools %(names)s", "n"),
    "hooks": _("adds hooks to the agent"),
    "shell": _("runs shell commands"),
    "skills": ngettext_lazy("starts the skill %(names)s", "starts the skills %(names)s", "n"),
    "properties": ngettext_lazy(
        "sets the possibly unsafe field %(names)s", "sets the possibly unsafe fields %(names)s", "n"
    ),
}


def approval_reason(approval: Approval) -> str:
    """The reason why the run needs approval, as plain text with untrusted names of permissions."""
    version = approval.run.version_number
    if phrases := _phrases(approval.added_permissions):
        return gettext(
            "Needs approval because version %(version)s also %(reasons)s; the approved permissions don't "
            "cover this."
        ) % {"version": version, "reasons": _joined(phrases)}
    return permission_reason(approval.requested_permissions or {"properties": approval.unsafe_properties})


def permission_reason(requested: Mapping[str, list[str]]) -> str:
    """The reason why a skill that requests these permissions needs approval."""
    if phrases := _phrases(requested):
        return gettext("Needs approval because this skill %(reasons)s, and no rule allows it.") % {
            "reasons": _joined(phrases)
        }
    return gettext("Needs approval because no rule allows this skill.")


def _phrases(document: Mapping[str, list[str]]) -> list[str]:
    found = [str(SCRIPTS_PHRASE)] if SCRIPTS_PROPERTY in document.get("properties", ()) else []
    for kind, phrase in _PHRASES.items():
        if names := _names(kind, document.get(kind, ())):
            found.append(phrase % {"n": len(names), "names": _shortened(names)})
    return found


def _names(kind: str, names: Iterable[str]) -> list[str]:
    """The names without the values that follow: variables have the form "NAME=value", other fields "name:
    value".
    """
    if kind == "filesystem":
        return [str(READ_ONLY) if name == "read-only" else name for name in names]
    if kind == "environment":
        return [name.partition("=")[0] for name in names]
    if kind == "properties":
        return [name.partition(":")[0] for name in names if name != SCRIPTS_PROPERTY]
    return list(names)


def _shortened(names: list[str]) -> str:
    first = [one_line(name, max_length=_MAX_LENGTH) for name in names[:_MAX_NAMES]]
    if len(names) <= _MAX_NAMES:
        return _joined(first)
    more = {"names": pgettext("list", ", ").join(first), "n": len(names) - _MAX_NAMES}
    return gettext("%(names)s and %(n)s more") % more


def _joined(parts: list[str]) -> str:
    *others, last = parts
    if not others:
        return last
    return gettext("%(others)s and %(last)s") % {"others": pgettext("list", ", ").join(others), "last": last}
