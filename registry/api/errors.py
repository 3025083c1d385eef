"""Error codes of requests that the API can't read or accept."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CREDENTIALS_UNREADABLE = declare("CREDENTIALS_UNREADABLE", http=401)(
    _("The `Authorization` header does not contain a valid bearer token."),
    _("Send `Authorization: Bearer sq_…`, or omit the header."),
)
CSRF_FAILED = declare("CSRF_FAILED", http=403)(
    _("CSRF check failed: requests from a browser session need a valid CSRF token."),
    _("Send the value of the `csrftoken` cookie as `X-CSRFToken`, or use an access token."),
)
PATH_UNKNOWN = declare("PATH_UNKNOWN", http=404)(
    _("Endpoint not found."), _("See /api/docs/ or /llms.txt for the available endpoints.")
)
METHOD_NOT_ALLOWED = declare("METHOD_NOT_ALLOWED", lambda *, method: ..., http=405)(
    _("This endpoint does not support %(method)s."),
    _("Use one of the methods in the response's `Allow` header."),
)
MEDIA_TYPE_UNSUPPORTED = declare("MEDIA_TYPE_UNSUPPORTED", lambda *, type, accepted: ..., http=415)(
    _("Unsupported content type or encoding of the request body: %(type)s."),
    _("Use a supported type or encoding: %(accepted)s."),
)
LENGTH_REQUIRED = declare("LENGTH_REQUIRED", http=411)(
    _("The `Content-Length` header is missing."),
    _("Send the body with a `Content-Length`, not chunked."),
)
BODY_TOO_LARGE = declare("BODY_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The request body exceeds %(limit)s bytes or has too many parts."),
    _("Send less data at once, sign in for a higher limit, or ask an administrator to raise the limit."),
)
BODY_INVALID = declare("BODY_INVALID", lambda *, reason: ..., http=400)(
    _("Can't read the request body: %(reason)s."), _("Send a complete body that matches its `Content-Type`.")
)
REQUEST_UNREADABLE = declare("REQUEST_UNREADABLE", http=400)(
    _("Can't read the request."), _("Check the address, the headers and the encoding; text must be UTF-8.")
)
JSON_INVALID = declare("JSON_INVALID", lambda *, reason: ..., http=400)(
    _("Can't read the request body as JSON: %(reason)s."),
    _("Send one JSON document in UTF-8 without duplicate keys, NaN or NUL, nested at most 64 levels deep."),
)
FIELD_INVALID = declare("FIELD_INVALID", lambda *, field, reason: ...)(
    _("%(field)s: %(reason)s"), _("Correct the value; /api/docs/ describes what each field accepts.")
)
FIELD_UNKNOWN = declare("FIELD_UNKNOWN", lambda *, field, known: ...)(
    _("Unknown field: `%(field)s`."), _("Use only known fields: %(known)s.")
)
QUERY_INVALID = declare("QUERY_INVALID", lambda *, field, reason: ..., http=400)(
    _("%(field)s: %(reason)s"),
    _("Correct the query parameter; /api/docs/ describes what each parameter accepts."),
)
QUERY_UNKNOWN = declare("QUERY_UNKNOWN", lambda *, field, known: ..., http=400)(
    _("Unknown query parameter: `%(field)s`."), _("Use only known parameters: %(known)s.")
)
CURSOR_INVALID = declare("CURSOR_INVALID", http=400)(
    _("The `cursor` or `since` parameter is not valid for this list."),
    _(
        "Omit this parameter in the first request. In each later request, send the value "
        "from the previous response and keep the same filters."
    ),
)
IDEMPOTENCY_KEY_INVALID = declare("IDEMPOTENCY_KEY_INVALID", http=400)(
    _("`Idempotency-Key` must be 1 to 200 printable ASCII characters without spaces."),
    _("Use a new UUID as the key of each operation."),
)
IDEMPOTENCY_KEY_REUSED = declare("IDEMPOTENCY_KEY_REUSED")(
    _("This `Idempotency-Key` was already used for a different request."),
    _("Use a new `Idempotency-Key`, or resend the first request unchanged."),
)
IDEMPOTENCY_UNDER_WAY = declare("IDEMPOTENCY_UNDER_WAY", http=409, retryable=True)(
    _("The first request with this `Idempotency-Key` is still in progress."), _("Try again in a moment.")
)
PRECONDITION_FAILED = declare("PRECONDITION_FAILED", http=412)(
    _("The resource has changed since you last read it."),
    _("Get the resource again, then send its new ETag as `If-Match`."),
)
INTERNAL = declare("INTERNAL", http=500, retryable=True)(
    _("The server could not complete the request because of an internal error."),
    _("Try again; if the error persists, give the `request_id` to an administrator."),
)
