"""Which tiers this machine really has: each is tried by running ``true`` in it, once per process."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from registry.packages.problems import Refused, Said, gettext_noop, refuse
from worker.sandbox import bwrap, running
from worker.sandbox.policy import Ended, Job, Limits, OnOutput, Tick
from worker.sandbox.site import TIERS, Site, Tier

_INSTALL = gettext_noop("Install bubblewrap (apt-get install bubblewrap), or update it to 0.8 or later.")
_PROC = gettext_noop(
    "Start the container with --security-opt systempaths=unconfined: a masked /proc forbids it."
)
_NAMESPACES = gettext_noop(
    "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces=10000; "
    "in a container, --security-opt seccomp=unconfined --security-opt apparmor=unconfined."
)
_STAGING = gettext_noop(
    "A worker that is root needs CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID to stage folders: "
    "run it as a plain user, or add the capabilities."
)


@dataclass(frozen=True)
class TierReport:
    """``reason`` is the kernel's or bubblewrap's own message where the tier fails, ``fix`` what helps."""

    name: Tier
    usable: bool
    reason: str = ""
    fix: str = ""


_found: dict[Site, list[TierReport]] = {}
_lock = threading.Lock()


def usable_tiers(site: Site | None = None) -> list[TierReport]:
    """All tiers, strongest first; tried once and remembered for this process."""
    site = site or Site()
    with _lock:
        if site not in _found:
            _found[site] = [_try(tier, site) for tier in TIERS]
        return list(_found[site])


def run(
    job: Job,
    *,
    on_output: OnOutput | None = None,
    tick: Tick | None = None,
    tier: str | None = None,
    site: Site | None = None,
    grace_s: float = 5.0,
) -> Ended:
    """Runs in the strongest tier that the site allows, or in ``tier``; refuses with SANDBOX_UNAVAILABLE."""
    site = site or Site()
    if site.backend and tier is None:
        plain = replace(site, backend=None)
        ended = site.backend(site.choice, job, on_output=on_output, tick=tick, site=plain, grace_s=grace_s)
        return replace(ended, tier="backend")
    chosen = choose(site, tier)
    if chosen == "landlock" and job.network is not None and job.served is None:
        reason = Said(
            gettext_noop("this machine's isolation, landlock, cannot give: it has no network at all")
        )
        raise refuse("NETWORK_ALLOWLIST_UNAVAILABLE", reason=reason)
    return running.run_in(chosen, job, on_output=on_output, tick=tick, site=site, grace_s=grace_s)


def choose(site: Site, tier: str | None = None) -> Tier:
    if tier == "unsafe" or (tier is None and site.choice == "unsafe"):
        return "unsafe"
    wanted = tier or (None if site.choice == "auto" else site.choice)
    reports = [report for report in usable_tiers(site) if wanted in (None, report.name)]
    for report in reports:
        if report.usable and _allowed(report.name, site):
            return report.name
    raise _refusal(reports, site)


def _allowed(name: Tier, site: Site) -> bool:
    return TIERS.index(name) <= TIERS.index(site.minimum)


def _refusal(reports: list[TierReport], site: Site) -> Refused:
    reasons = [f"{report.name}: {report.reason}" for report in reports if not report.usable]
    forbidden = [report.name for report in reports if report.usable and not _allowed(report.name, site)]
    reasons += [f"{name}: weaker than SKILLQUAY_SANDBOX_MINIMUM" for name in forbidden]
    fixes = dict.fromkeys(report.fix for report in reports if report.fix)
    fix = " ".join(fixes) or "Run manage.py sandbox_doctor."
    return refuse("SANDBOX_UNAVAILABLE", reason="; ".join(reasons) or "no such tier", fix=fix)


def _try(tier: Tier, site: Site) -> TierReport:
    if tier == "bwrap" and bwrap.program() is None:
        return TierReport(tier, False, "bwrap is not installed", _INSTALL)
    try:
        ended = _run_true(tier, site)
    except (OSError, ValueError) as error:
        return TierReport(tier, False, str(error), _fix(tier, str(error)))
    if ended.ending == "exited" and ended.exit_code == 0:
        return TierReport(tier, True)
    reason = (
        ended.detail or ended.stderr.decode(errors="replace").strip() or f"{ended.ending} {ended.exit_code}"
    )
    return TierReport(tier, False, reason, _fix(tier, reason))


def _run_true(tier: Tier, site: Site) -> Ended:
    with tempfile.TemporaryDirectory(prefix="skillquay-probe-") as folder:
        package, job_dir = Path(folder, "package"), Path(folder, "job")
        package.mkdir()
        (job_dir / "output").mkdir(parents=True)
        job = Job(("true",), package, job_dir, limits=Limits(timeout_s=10))
        return running.run_in(tier, job, site=site)


def _fix(tier: Tier, reason: str) -> str:
    if "Unknown option" in reason:
        return _INSTALL
    if "proc" in reason and "ermitted" in reason and "uid" not in reason:
        return _PROC
    if os.geteuid() == 0 and ("mount none" in reason or reason.startswith(("unshare", "[Errno 1] unshare"))):
        return _STAGING
    return _NAMESPACES
