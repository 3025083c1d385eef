"""The refusals of the sandbox."""

from __future__ import annotations

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "SANDBOX_UNAVAILABLE",
        gettext_noop("No isolation tier works on this machine: %(reason)s"),
        gettext_noop("%(fix)s"),
        http=503,
    ),
    Code(
        "SANDBOX_FULL",
        gettext_noop("All %(count)s user ids of the sandbox are taken by other runs."),
        gettext_noop("Try again, or give the sandbox a larger range of user ids."),
        http=503,
        retryable=True,
    ),
    Code(
        "RUNTIME_MISSING",
        gettext_noop("%(runtime)s, which runs this script, is not installed on the worker."),
        gettext_noop("%(fix)s"),
        http=503,
    ),
    Code(
        "NETWORK_ALLOWLIST_UNAVAILABLE",
        gettext_noop("This skill asks for network access to named hosts, which this version cannot give."),
        gettext_noop("Set security.network to none, or hand the data in as an input file."),
        http=422,
    ),
)
