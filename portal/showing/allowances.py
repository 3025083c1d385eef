"""What a skill may do when it runs, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from portal.templatetags.skillquay import duration
from registry.packages.package import Manifest


@dataclass(frozen=True)
class Allowance:
    """One line: what it is about, what holds, and names that go with it; ``tone`` is ok or warn."""

    about: str
    says: str
    names: tuple[str, ...] = ()
    tone: str = "ok"


def allowances(manifest: Manifest) -> list[Allowance]:
    """Network, files, time, memory, environment and tools, in this order."""
    found = [_network(manifest), _files(), _time(manifest), _memory(manifest)]
    security = manifest.security
    if security.environment:
        found.append(Allowance(_("Environment"), _("These variables are set:"), tuple(security.environment)))
    if security.secrets:
        found.append(Allowance(_("Secrets"), _("It is given:"), tuple(security.secrets), "warn"))
    if manifest.allowed_tools:
        found.append(
            Allowance(_("Tools"), _("An agent that uses it may call:"), manifest.allowed_tools, "warn")
        )
    if manifest.requires:
        found.append(Allowance(_("Other skills"), _("It may start:"), manifest.requires, "warn"))
    return found


def _network(manifest: Manifest) -> Allowance:
    hosts = manifest.security.network_allowlist
    if manifest.security.network == "none":
        return Allowance(_("Network"), _("None: it reaches no other machine."))
    if hosts:
        return Allowance(_("Network"), _("Only these hosts:"), hosts, "warn")
    return Allowance(
        _("Network"), _("It asks for the network and names no host: none is reached."), (), "warn"
    )


def _files() -> Allowance:
    """The same for both values of ``filesystem``: less would leave nothing to run."""
    return Allowance(
        _("Files"), _("Reads its own files, its inputs and the system's programs; writes only to its output.")
    )


def _time(manifest: Manifest) -> Allowance:
    asked = (manifest.security.timeout_ms or settings.SKILLQUAY_RUN_DEFAULT_SECONDS * 1000) / 1000
    longest = min(asked, settings.SKILLQUAY_RUN_SECONDS)
    return Allowance(_("Time"), _("At most %(time)s, then it is stopped.") % {"time": duration(longest)})


def _memory(manifest: Manifest) -> Allowance:
    most = min(
        manifest.security.memory_mb or settings.SKILLQUAY_RUN_MEMORY_MB, settings.SKILLQUAY_RUN_MEMORY_MB
    )
    return Allowance(_("Memory"), _("At most %(n)s MB.") % {"n": most})
