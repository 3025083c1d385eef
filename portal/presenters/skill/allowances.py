"""The permissions of a skill at run time, as labeled lines."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from portal.presenters.content.units import duration
from registry.packages.package import Manifest


@dataclass(frozen=True)
class Allowance:
    """One permission: label, text, and the names of hosts, variables or similar; ``tone`` is ok or warn."""

    about: str
    text: str
    names: tuple[str, ...] = ()
    tone: str = "ok"


def allowances(manifest: Manifest) -> list[Allowance]:
    """The permissions: network, files, time, memory; then environment, secrets, tools and skills if any."""
    found = [_network(manifest), _files(), _time(manifest), _memory(manifest)]
    security = manifest.security
    if security.environment:
        found.append(Allowance(_("Environment"), _("Sets these variables:"), tuple(security.environment)))
    if security.secrets:
        found.append(Allowance(_("Secrets"), _("Receives these secrets:"), tuple(security.secrets), "warn"))
    if manifest.allowed_tools:
        found.append(
            Allowance(_("Tools"), _("Agents that use this skill can call:"), manifest.allowed_tools, "warn")
        )
    if manifest.requires:
        found.append(Allowance(_("Other skills"), _("Can start these skills:"), manifest.requires, "warn"))
    return found


def _network(manifest: Manifest) -> Allowance:
    hosts = manifest.security.network_allowlist
    if manifest.security.network == "none":
        return Allowance(_("Network"), _("None: the skill can't connect to any host."))
    if hosts:
        return Allowance(_("Network"), _("Only these hosts:"), hosts, "warn")
    return Allowance(
        _("Network"),
        _("The skill requests network access but lists no hosts, so it can't connect to any host."),
        (),
        "warn",
    )


def _files() -> Allowance:
    """The file access of every run, which does not depend on ``filesystem`` in the manifest."""
    return Allowance(
        _("Files"),
        _("Reads its own files, its inputs and system programs; writes only to its output folder."),
    )


def _time(manifest: Manifest) -> Allowance:
    requested = (manifest.security.timeout_ms or settings.SKILLQUAY_DEFAULT_RUN_SECONDS * 1000) / 1000
    longest = min(requested, settings.SKILLQUAY_MAX_RUN_SECONDS)
    return Allowance(_("Time"), _("At most %(time)s, then the run is stopped.") % {"time": duration(longest)})


def _memory(manifest: Manifest) -> Allowance:
    most = min(
        manifest.security.memory_mb or settings.SKILLQUAY_MAX_RUN_MEMORY_MB,
        settings.SKILLQUAY_MAX_RUN_MEMORY_MB,
    )
    return Allowance(_("Memory"), _("At most %(n)s MB.") % {"n": most})
