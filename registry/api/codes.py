"""The refusals that speak of the request itself: its form, its credentials, its keys and conditions."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "CREDENTIALS_UNREADABLE",
        gettext_noop("The Authorization header is not a bearer token."),
        gettext_noop("Send it as: Authorization: Bearer sq_…, or leave the header away."),
        http=401,
    ),
    Code(
        "TOKEN_SCOPE_MISSING",
        gettext_noop("The access token was not made for this: its scopes are %(scopes)s."),
        gettext_noop("Use a token with one of the scopes %(needed)s."),
        http=403,
    ),
    Code(
        "CSRF_FAILED",
        gettext_noop("A change in a browser's session needs the session's own CSRF token."),
        gettext_noop("Send the csrftoken cookie's value as X-CSRFToken, or use an access token."),
        http=403,
    ),
    Code(
        "PATH_UNKNOWN",
        gettext_noop("There is nothing at this address."),
        gettext_noop("The addresses there are stand in /api/docs/ and /llms.txt."),
        http=404,
    ),
    Code(
        "METHOD_NOT_ALLOWED",
        gettext_noop("This address does not take %(method)s."),
        gettext_noop("Use one of the methods in the answer's Allow header."),
        http=405,
    ),
    Code(
        "MEDIA_TYPE_UNSUPPORTED",
        gettext_noop("A body of type %(type)s is not read here."),
        gettext_noop("Send one of: %(accepted)s; without Content-Encoding."),
        http=415,
    ),
    Code(
        "LENGTH_REQUIRED",
        gettext_noop("The body's length was not said."),
        gettext_noop("Send Content-Length; a chunked body is not read."),
        http=411,
    ),
    Code(
        "BODY_TOO_LARGE",
        gettext_noop("The body is larger than %(limit)s bytes, or has too many parts."),
        gettext_noop("Send less at once, or ask the administrator for a higher limit."),
        http=413,
    ),
    Code(
        "BODY_INVALID",
        gettext_noop("The body cannot be read: %(reason)s."),
        gettext_noop("Send a whole body that is what its Content-Type says."),
        http=400,
    ),
    Code(
        "REQUEST_UNREADABLE",
        gettext_noop("The request cannot be read."),
        gettext_noop("Check its address, headers and encoding; text is UTF-8."),
        http=400,
    ),
    Code(
        "JSON_INVALID",
        gettext_noop("The body is not JSON that we take: %(reason)s."),
        gettext_noop("Send one JSON document in UTF-8: no key twice, no NaN, no NUL, at most 64 levels."),
        http=400,
    ),
    Code(
        "FIELD_INVALID",
        gettext_noop("%(field)s: %(reason)s"),
        gettext_noop("Correct the value; /api/docs/ says what each field takes."),
        http=422,
    ),
    Code(
        "FIELD_REQUIRED",
        gettext_noop("%(field)s is missing."),
        gettext_noop("Send it; /api/docs/ says what each field takes."),
        http=422,
    ),
    Code(
        "FIELD_UNKNOWN",
        gettext_noop("%(field)s is not a field here."),
        gettext_noop("Use only these: %(known)s."),
        http=422,
    ),
    Code(
        "QUERY_INVALID",
        gettext_noop("%(field)s: %(reason)s"),
        gettext_noop("Correct the parameter of the address; /api/docs/ says what each takes."),
        http=400,
    ),
    Code(
        "QUERY_UNKNOWN",
        gettext_noop("%(field)s is not a parameter here."),
        gettext_noop("Use only these: %(known)s."),
        http=400,
    ),
    Code(
        "CURSOR_INVALID",
        gettext_noop("The cursor is not one that this list gave."),
        gettext_noop("Start without it, and follow next_cursor with the same filters."),
        http=400,
    ),
    Code(
        "IDEMPOTENCY_KEY_INVALID",
        gettext_noop("Idempotency-Key must be 1 to 200 printable ASCII characters."),
        gettext_noop("Use a fresh UUID for each thing to be done."),
        http=400,
    ),
    Code(
        "IDEMPOTENCY_KEY_REUSED",
        gettext_noop("This Idempotency-Key was used for another request."),
        gettext_noop("Use a fresh key, or send exactly the first request again."),
        http=422,
    ),
    Code(
        "IDEMPOTENCY_UNDER_WAY",
        gettext_noop("The first request with this Idempotency-Key is still under way."),
        gettext_noop("Send it again in a moment."),
        http=409,
        retryable=True,
    ),
    Code(
        "PRECONDITION_FAILED",
        gettext_noop("This has changed since you read it."),
        gettext_noop("Read it again, and send its new ETag as If-Match."),
        http=412,
    ),
    Code(
        "UPLOAD_EMPTY",
        gettext_noop("The request holds no package."),
        gettext_noop("Send the archive as the body, or as the form's field package, or its files as files."),
        http=400,
    ),
    Code(
        "UNAVAILABLE",
        gettext_noop("The database or the storage does not answer just now."),
        gettext_noop("Send the request again in a moment; nothing was changed."),
        http=503,
        retryable=True,
    ),
    Code(
        "INTERNAL",
        gettext_noop("Something went wrong on our side."),
        gettext_noop("Try again; if it stays, give the administrator the request_id."),
        http=500,
        retryable=True,
    ),
)
