from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

OUTBOUND_ADDRESS = declare("OUTBOUND_ADDRESS", lambda *, reason: ...)(
    _("Invalid address: %(reason)s."),
    _(
        "Use an https:// address without a user name and password; http:// works only for "
        "addresses that an administrator lists in SKILLQUAY_OUTBOUND_ALLOW."
    ),
)
OUTBOUND_REFUSED = declare("OUTBOUND_REFUSED", lambda *, host: ...)(
    _("The request was not sent: %(host)s is not a public internet address."),
    _("Ask an administrator to add the address to SKILLQUAY_OUTBOUND_ALLOW."),
)
OUTBOUND_FAILED = declare("OUTBOUND_FAILED", lambda *, host, reason: ..., http=502, retryable=True)(
    _("The request to %(host)s failed: %(reason)s."), _("Check the address and try again later.")
)
OUTBOUND_TIMEOUT = declare("OUTBOUND_TIMEOUT", lambda *, host, seconds: ..., http=504, retryable=True)(
    _("%(host)s did not send a complete response within %(seconds)s seconds."), _("Try again later.")
)
OUTBOUND_TOO_LARGE = declare("OUTBOUND_TOO_LARGE", lambda *, host, limit: ...)(
    _("The response from %(host)s is larger than %(limit)s bytes."),
    _("Reduce the size of the content at this address, or ask an administrator to raise the limit."),
)
OUTBOUND_REDIRECTS = declare("OUTBOUND_REDIRECTS", lambda *, most: ..., http=502)(
    _("The address redirects more than %(most)s times."), _("Use the final address of the content.")
)
OUTBOUND_STATUS = declare("OUTBOUND_STATUS", lambda *, host, status: ..., http=502)(
    _("%(host)s responded with status %(status)s."),
    _("Check the address and the credentials, or try again later if the status is 500 or higher."),
)
