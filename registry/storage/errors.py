"""Error codes of stored blobs."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

BLOB_TOO_LARGE = declare("BLOB_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The content is larger than %(limit)s bytes."),
    _("Reduce the size, or ask an administrator to raise the limit."),
)
BLOB_MISSING = declare("BLOB_MISSING", lambda *, digest: ..., http=500)(
    _("The stored content %(digest)s is missing or damaged."),
    _("Restore the blob folder from a backup, as described in docs/howto/back-up-and-restore.md."),
)
