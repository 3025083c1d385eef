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
        gettext_noop("This skill asks for network access to named hosts, which %(reason)s."),
        gettext_noop(
            "Run it where tier bwrap or nsrun works (see sandbox_doctor), or set security.network to none "
            "and hand the data in as an input file."
        ),
        http=422,
    ),
    Code(
        "NETWORK_HOST_REFUSED",
        gettext_noop("The run asked for %(host)s, which its allowlist does not name."),
        gettext_noop("Add the host to security: network_allowlist of the skill, and publish it anew."),
    ),
    Code(
        "NETWORK_PORT_REFUSED",
        gettext_noop("The run asked for port %(port)s of %(host)s; its allowlist opens other ports only."),
        gettext_noop("Write the port in security: network_allowlist, as %(host)s:%(port)s."),
    ),
    Code(
        "NETWORK_ADDRESS_LITERAL",
        gettext_noop("The run asked for the address %(host)s rather than for a host of its allowlist."),
        gettext_noop("Ask for the host by its name, or list exactly this address in network_allowlist."),
    ),
    Code(
        "NETWORK_ADDRESS_REFUSED",
        gettext_noop("%(host)s is not at an address of the public internet, so it was not dialled."),
        gettext_noop("An administrator lists what else may be reached in SKILLQUAY_OUTBOUND_ALLOW."),
    ),
    Code(
        "NETWORK_NAME_UNKNOWN",
        gettext_noop("No address was found for %(host)s."),
        gettext_noop("Check how the host is written, and the name service of the worker."),
        retryable=True,
    ),
    Code(
        "NETWORK_UNREACHABLE",
        gettext_noop("%(host)s takes no connection on port %(port)s."),
        gettext_noop("Try again later, or check the port."),
        http=502,
        retryable=True,
    ),
    Code(
        "NETWORK_TOO_MUCH",
        gettext_noop("The run had too many connections open, or moved too many bytes: some were cut."),
        gettext_noop("Fetch less, or ask for a higher SKILLQUAY_RUN_NETWORK_BYTES or _CONNECTIONS."),
    ),
    Code(
        "NETWORK_REQUEST_INVALID",
        gettext_noop("The run sent its proxy something that is neither CONNECT nor a request to http://."),
        gettext_noop("Use an HTTP client that honours HTTP_PROXY and HTTPS_PROXY; nothing else gets out."),
    ),
)
