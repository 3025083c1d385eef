"""Finds the usable tiers of this machine by running ``true`` in each; chooses one, and runs jobs in it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from registry.packages.problems import LazyMessage, Refusal, gettext_noop
from worker.sandbox import run_job
from worker.sandbox.enforcement import WATCHDOG, planned_enforcement
from worker.sandbox.errors import (
    KERNEL_LIMITS_UNAVAILABLE,
    NETWORK_ALLOWLIST_UNAVAILABLE,
    SANDBOX_UNAVAILABLE,
)
from worker.sandbox.limits.limits import Limits
from worker.sandbox.limits.scratch import Scratch, plan_scratch
from worker.sandbox.policy import CheckStop, Job, OnOutput, SandboxResult
from worker.sandbox.site_settings import TIERS, SandboxSettings, Tier
from worker.sandbox.tiers import bwrap

_INSTALL = gettext_noop("Install bubblewrap (apt-get install bubblewrap), or update it to 0.8 or later.")
_PROC = gettext_noop(
    "Start the container with --security-opt systempaths=unconfined: a masked /proc blocks this tier."
)
_NAMESPACES = gettext_noop(
    "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces=10000; "
    "in a container, --security-opt seccomp=unconfined --security-opt apparmor=unconfined."
)
_STAGING = gettext_noop(
    "Run the worker as an ordinary user, or give it the capabilities CAP_SYS_ADMIN, CAP_SETUID and "
    "CAP_SETGID."
)


@dataclass(frozen=True)
class TierReport:
    """Whether a tier works. If it does not, ``reason`` is the error message and ``fix`` the remedy."""

    name: Tier
    usable: bool
    reason: str = ""
    fix: str = ""
    # Why runs can't have a scratch space, whose limits the kernel enforces; "" if they can have one.
    scratch_reason: str = ""
    refusal: Refusal | None = None  # True for an error that is unrelated to the tier, such as SANDBOX_FULL


_reports: dict[SandboxSettings, list[TierReport]] = {}
_lock = threading.Lock()


def usable_tiers(site: SandboxSettings | None = None) -> list[TierReport]:
    """Reports on all tiers, strongest first, including unusable ones.

    The first call runs ``true`` in each tier and caches the result for this process and these settings. The
    result is not cached if a tier could not be tried because all user ids were in use.
    """
    site = site or SandboxSettings()
    with _lock:
        if site in _reports:
            return list(_reports[site])
        reports = [_try(tier, site) for tier in TIERS]
        if not any(report.refusal for report in reports):
            _reports[site] = reports
        return list(reports)


def run(
    job: Job,
    *,
    on_output: OnOutput | None = None,
    check_stop: CheckStop | None = None,
    tier: str | None = None,
    site: SandboxSettings | None = None,
    grace_s: float = 5.0,
) -> SandboxResult:
    """Runs ``job`` in ``tier``, by default in the site's backend or in the tier that ``choose`` selects.

    Ignores ``job.scratch`` if the backend or tier can't use it. Raises SANDBOX_UNAVAILABLE if no allowed tier
    works, and SANDBOX_FULL if no user id is free. Raises NETWORK_ALLOWLIST_UNAVAILABLE if the tier has no
    network, and KERNEL_LIMITS_UNAVAILABLE if the site requires kernel limits that are missing.
    """
    site = site or SandboxSettings()
    if site.backend and tier is None:
        without_backend, job = replace(site, backend=None), replace(job, scratch=None)
        result = site.backend(
            site.choice,
            job,
            on_output=on_output,
            check_stop=check_stop,
            site=without_backend,
            grace_s=grace_s,
        )
        return replace(result, tier="backend")
    chosen = choose(site, tier)
    if chosen == "landlock" and job.network == () and job.http_handler is None:
        job = replace(job, network=None)  # this tier refuses all hosts anyway, but can't record the attempts
    elif chosen == "landlock" and job.network is not None and job.http_handler is None:
        reason = LazyMessage(
            gettext_noop("the worker uses the isolation tier landlock, in which runs have no network")
        )
        raise NETWORK_ALLOWLIST_UNAVAILABLE.refusal(reason=reason)
    if job.scratch and not has_scratch(chosen, site):
        job = replace(job, scratch=None)
    if site.require_kernel_limits:
        _require_kernel_limits(chosen, job, site)
    return run_job.run_in(chosen, job, on_output=on_output, check_stop=check_stop, site=site, grace_s=grace_s)


def default_enforcement(tier: Tier, site: SandboxSettings) -> dict[str, str]:
    """Maps each limit of a run with the default limits in this tier to the expected mechanism."""
    limits, nowhere = Limits(), Path("/")
    scratch = plan_scratch(nowhere, limits, site.max_tmpfs_bytes) if has_scratch(tier, site) else None
    return planned_enforcement(tier, Job((), nowhere, nowhere, limits=limits, scratch=scratch), site)


def has_scratch(tier: Tier, site: SandboxSettings) -> bool:
    return site.use_scratch and any(
        report.usable and not report.scratch_reason for report in usable_tiers(site) if report.name == tier
    )


def _require_kernel_limits(tier: Tier, job: Job, site: SandboxSettings) -> None:
    """Raises KERNEL_LIMITS_UNAVAILABLE if the watchdog alone would enforce a limit of this job."""
    polled = [limit for limit, how in planned_enforcement(tier, job, site).items() if how == WATCHDOG]
    if polled:
        raise KERNEL_LIMITS_UNAVAILABLE.refusal(limits=tuple(polled))


def choose(site: SandboxSettings, tier: str | None = None) -> Tier:
    """The tier to use: ``tier``, otherwise the site's choice; "auto" means the strongest that works.

    Raises SANDBOX_UNAVAILABLE if no allowed tier works, and SANDBOX_FULL if one could not be tried.
    """
    if tier == "unsafe" or (tier is None and site.choice == "unsafe"):
        return "unsafe"
    wanted = tier or (None if site.choice == "auto" else site.choice)
    reports = [report for report in usable_tiers(site) if wanted in (None, report.name)]
    for report in reports:
        if report.refusal and _is_allowed(report.name, site):
            raise report.refusal  # a weaker tier must not replace one that is only busy
        if report.usable and _is_allowed(report.name, site):
            return report.name
    raise _refusal(reports, site)


def _is_allowed(name: Tier, site: SandboxSettings) -> bool:
    return TIERS.index(name) <= TIERS.index(site.minimum)


def _refusal(reports: list[TierReport], site: SandboxSettings) -> Refusal:
    reasons = [f"{report.name}: {report.reason}" for report in reports if not report.usable]
    forbidden = [report.name for report in reports if report.usable and not _is_allowed(report.name, site)]
    reasons += [f"{name}: weaker than SKILLQUAY_SANDBOX_MINIMUM" for name in forbidden]
    fixes = dict.fromkeys(report.fix for report in reports if report.fix)
    fix = " ".join(fixes) or "Run manage.py sandbox_doctor."
    fix = LazyMessage(fix) if len(fixes) == 1 else fix
    return SANDBOX_UNAVAILABLE.refusal(reason="; ".join(reasons) or "unknown tier", fix=fix)


def _try(tier: Tier, site: SandboxSettings) -> TierReport:
    if tier == "bwrap" and bwrap.program() is None:
        return TierReport(tier, False, "bwrap is not installed", _INSTALL)
    try:
        return _probe(tier, site)
    except Refusal as refused:
        problem = refused.problems[0]
        return TierReport(tier, False, problem.message(), problem.remedy(), refusal=refused)


def _probe(tier: Tier, site: SandboxSettings) -> TierReport:
    if not (scratch_reason := _failure_of_true(tier, site, with_scratch=True)):
        return TierReport(tier, True)
    if not (reason := _failure_of_true(tier, site, with_scratch=False)):
        return TierReport(tier, True, scratch_reason=scratch_reason)
    return TierReport(tier, False, reason, _fix(tier, reason))


def _failure_of_true(tier: Tier, site: SandboxSettings, *, with_scratch: bool) -> str:
    try:
        result = _run_true(tier, site, with_scratch=with_scratch)
    except (OSError, ValueError) as error:
        return str(error)
    if result.ending == "exited" and result.exit_code == 0:
        return ""
    return (
        result.detail
        or result.stderr.decode(errors="replace").strip()
        or f"{result.ending} {result.exit_code}"
    )


def _run_true(tier: Tier, site: SandboxSettings, *, with_scratch: bool) -> SandboxResult:
    with tempfile.TemporaryDirectory(prefix="skillquay-probe-") as name, contextlib.ExitStack() as stack:
        folder = Path(name, "attempt")
        package, job_dir = Path(name, "package"), folder / "job"
        package.mkdir()
        (job_dir / "output").mkdir(parents=True)
        limits = Limits(timeout_s=10)
        scratch = None
        if with_scratch:
            scratch = stack.enter_context(contextlib.closing(Scratch(folder, 1 << 20, limits.files)))
        job = Job(("true",), package, job_dir, limits=limits, scratch=scratch)
        return run_job.run_in(tier, job, site=site)


def _fix(tier: Tier, reason: str) -> str:
    if "Unknown option" in reason:
        return _INSTALL
    if "proc" in reason and "ermitted" in reason and "uid" not in reason:
        return _PROC
    if os.geteuid() == 0 and ("mount none" in reason or reason.startswith(("unshare", "[Errno 1] unshare"))):
        return _STAGING
    return _NAMESPACES
