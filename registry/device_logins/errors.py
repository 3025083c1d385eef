"""Error codes of device logins."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

DEVICE_CODE_UNKNOWN = declare("DEVICE_CODE_UNKNOWN", http=404)(
    _("This code is wrong, expired or already used."),
    _("Check the code, or start the login again in the client."),
)
DEVICE_LOGINS_TOO_MANY = declare(
    "DEVICE_LOGINS_TOO_MANY", lambda *, retry_after_s: ..., http=429, retryable=True
)(
    _("Too many logins from your network are waiting for confirmation."),
    _("Confirm or deny one of the waiting logins, or try again in %(retry_after_s)s seconds."),
)
