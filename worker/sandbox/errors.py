"""Error codes of the sandbox and its network proxy."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SANDBOX_UNAVAILABLE = declare("SANDBOX_UNAVAILABLE", lambda *, reason, fix: ..., http=503)(
    _("Can't run the script: no sandbox works on the worker's host (%(reason)s)."),
    _("Ask an administrator to fix the worker: %(fix)s"),
)
KERNEL_LIMITS_UNAVAILABLE = declare("KERNEL_LIMITS_UNAVAILABLE", lambda *, limits: ..., http=503)(
    _("The kernel of this worker can't enforce these limits, which the site requires: %(limits)s."),
    _(
        "Ask an administrator to enable kernel limits on the worker, as described in "
        "docs/howto/harden-the-sandbox.md."
    ),
)
SANDBOX_FULL = declare("SANDBOX_FULL", lambda *, count: ..., http=503, retryable=True)(
    _("All %(count)s user IDs of the sandbox are in use by other runs."),
    _("Try again, or ask an administrator to allocate more user IDs to the sandbox."),
)
RUNTIME_MISSING = declare("RUNTIME_MISSING", lambda *, runtime, fix: ..., http=503)(
    _("%(runtime)s is needed to run this script but is not installed on the worker."),
    _("Ask an administrator to fix the worker: %(fix)s"),
)
NETWORK_ALLOWLIST_UNAVAILABLE = declare("NETWORK_ALLOWLIST_UNAVAILABLE", lambda *, reason: ...)(
    _("Can't give the skill access to its allowed hosts: %(reason)s."),
    _(
        "Ask an administrator to enable the isolation tier bwrap or nsrun (see manage.py "
        "sandbox_doctor), or pass the data to the skill as an input file."
    ),
)
NETWORK_HOST_REFUSED = declare("NETWORK_HOST_REFUSED", lambda *, host: ...)(
    _("The connection was blocked: the host %(host)s is not in the run's allowlist."),
    _("Add the host to `security.network_allowlist` of the skill, then publish a new version."),
)
NETWORK_PORT_REFUSED = declare("NETWORK_PORT_REFUSED", lambda *, port, host: ...)(
    _("The connection was blocked: port %(port)s of %(host)s is not in the run's allowlist."),
    _("Add %(host)s:%(port)s to `security.network_allowlist` of the skill, then publish a new version."),
)
NETWORK_ADDRESS_LITERAL = declare("NETWORK_ADDRESS_LITERAL", lambda *, host: ...)(
    _("The connection was blocked: the run used the IP address %(host)s, which is not in its allowlist."),
    _(
        "Use the host name instead, or add exactly this address to "
        "`security.network_allowlist` of the skill, then publish a new version."
    ),
)
NETWORK_ADDRESS_REFUSED = declare("NETWORK_ADDRESS_REFUSED", lambda *, host: ...)(
    _("The connection was blocked: %(host)s has no public internet address."),
    _("Ask an administrator to add the address to SKILLQUAY_OUTBOUND_ALLOW."),
)
NETWORK_NAME_UNKNOWN = declare("NETWORK_NAME_UNKNOWN", lambda *, host: ..., retryable=True)(
    _("Can't connect to %(host)s: the host name can't be resolved."),
    _("Correct the host name, or ask an administrator to check the worker's DNS settings."),
)
NETWORK_UNREACHABLE = declare("NETWORK_UNREACHABLE", lambda *, port, host: ..., http=502, retryable=True)(
    _("Can't connect to port %(port)s of %(host)s."), _("Correct the port, or try again later.")
)
NETWORK_TOO_MUCH = declare("NETWORK_TOO_MUCH")(
    _("The run exceeded its limit for connections or traffic, so some connections were closed."),
    _(
        "Transfer less data, or ask an administrator to raise "
        "SKILLQUAY_MAX_RUN_NETWORK_BYTES or SKILLQUAY_MAX_RUN_CONNECTIONS."
    ),
)
NETWORK_REQUEST_INVALID = declare("NETWORK_REQUEST_INVALID")(
    _("The run sent its proxy an invalid request: only CONNECT and http:// requests are allowed."),
    _("Use an HTTP client that respects HTTP_PROXY and HTTPS_PROXY; all other traffic is blocked."),
)
