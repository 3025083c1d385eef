"""Error codes of uploads, request bodies, live pages, readiness checks and metrics."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

UPLOAD_GONE = declare("UPLOAD_GONE", http=410)(
    _("The upload has expired."), _("Choose and upload the file again.")
)
UPLOAD_PARTS_INVALID = declare("UPLOAD_PARTS_INVALID")(
    _("The list of the folder's files does not match the uploaded content."), _("Choose the folder again.")
)
UPLOAD_TOO_LARGE = declare("UPLOAD_TOO_LARGE", lambda *, megabytes, files: ..., http=413)(
    _("The upload is larger than %(megabytes)s MB or has more than %(files)s files."),
    _("Remove files that the skill does not need, such as node_modules, then upload the package again."),
)
BODY_STALLED = declare("BODY_STALLED", lambda *, seconds: ..., http=408, retryable=True)(
    _("The request body arrived too slowly, or no data arrived for %(seconds)s seconds."),
    _("Send the request again over a faster connection, with a correct `Content-Length`."),
)
BODY_UNSTORABLE = declare("BODY_UNSTORABLE", lambda *, reason: ..., http=507, retryable=True)(
    _("Can't store the request body: %(reason)s."),
    _("Try again later, or ask an administrator to free disk space."),
)
CHECK_UNKNOWN = declare("CHECK_UNKNOWN", lambda *, name, known: ..., http=400)(
    _("The check `%(name)s` does not exist."), _("Use one of these names: %(known)s.")
)
METRICS_DENIED = declare("METRICS_DENIED", http=401)(
    _("Can't read the metrics: the request has no valid metrics token."),
    _(
        "Send the value of SKILLQUAY_METRICS_TOKEN as `Authorization: Bearer …`; if it is not set, "
        "request the metrics on the server itself."
    ),
)
BODY_LENGTH_AMBIGUOUS = declare("BODY_LENGTH_AMBIGUOUS", http=400)(
    _("The request has both `Content-Length` and `Transfer-Encoding`."), _("Send only one of these headers.")
)
OVERLOADED = declare("OVERLOADED", lambda *, retry_after_s: ..., http=503, retryable=True)(
    _("The site is receiving more requests than it can answer at the moment."),
    _("Try again in a few seconds."),
)
LIVE_PAGES_TOO_MANY = declare("LIVE_PAGES_TOO_MANY", lambda *, retry_after_s: ..., http=429, retryable=True)(
    _("Can't update this page live: too many pages of this site are open at the moment."),
    _("Close pages of this site in other tabs, or try again in %(retry_after_s)s seconds."),
)
ANONYMOUS_BODIES_FULL = declare(
    "ANONYMOUS_BODIES_FULL", lambda *, retry_after_s: ..., http=503, retryable=True
)(
    _("Can't accept the request body: anonymous clients are sending too much data at the moment."),
    _("Try again in a few seconds, sign in, or send a valid access token."),
)
