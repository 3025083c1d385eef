from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

REQUEST_TOO_LARGE = declare("REQUEST_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The inputs, stdin and context together are larger than %(limit)s bytes."),
    _("Send large values as files: POST /api/v1/inputs."),
)
REQUEST_INVALID = declare("REQUEST_INVALID", lambda *, reason: ...)(
    _("Can't store the request: %(reason)s."),
    _("Send the inputs as JSON without NUL characters or lone Unicode surrogates."),
)
RUN_ERASED = declare("RUN_ERASED", http=409)(
    _("Can't run again: the run's content was erased."), _("Start a new run, and provide the inputs again.")
)
ENDPOINT_FILES = declare("ENDPOINT_FILES")(
    _("The skill runs on its HTTP endpoint, which can't receive files."),
    _("Send the content itself, or a URL that the endpoint can read."),
)
