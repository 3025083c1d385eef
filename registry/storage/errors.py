from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

BLOB_TOO_LARGE = declare("BLOB_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The content is larger than %(limit)s bytes."),
    _("Reduce the size, or ask an administrator to raise the limit."),
)
DISK_FULL = declare("DISK_FULL", lambda *, retry_after_s: ..., http=507, retryable=True)(
    _("The server's disk is full, so your change was not saved."),
    _(
        "Ask an administrator to free disk space, as described in docs/howto/run-a-production-site.md, and "
        "try again."
    ),
)
BLOB_MISSING = declare("BLOB_MISSING", lambda *, digest: ..., http=500)(
    _("The stored content %(digest)s is missing or damaged."),
    _(
        "Ask an administrator to restore the content from a backup, as described in "
        "docs/howto/back-up-and-restore.md."
    ),
)
