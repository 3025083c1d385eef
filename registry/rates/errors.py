from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RATE_LIMITED = declare("RATE_LIMITED", lambda *, limit, retry_after_s: ..., http=429, retryable=True)(
    _("Too many requests of this kind: the limit is %(limit)s per minute."),
    _("Try again in %(retry_after_s)s seconds, or ask an administrator to raise the limit."),
)
