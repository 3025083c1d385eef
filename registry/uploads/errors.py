from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

UPLOAD_OFFSET_CONFLICT = declare("UPLOAD_OFFSET_CONFLICT", lambda *, offset, received: ..., http=409)(
    _("Can't add a chunk at byte %(offset)s: the upload has %(received)s bytes."),
    _("Get the upload's current state, and continue at its `received` value."),
)
UPLOAD_CHUNK_INVALID = declare("UPLOAD_CHUNK_INVALID", lambda *, min, max: ...)(
    _("The chunk is too small, too large or longer than the rest of the file."),
    _("Send chunks of %(min)s to %(max)s bytes; only the last one can be smaller."),
)
UPLOAD_DIGEST_MISMATCH = declare("UPLOAD_DIGEST_MISMATCH", lambda *, name, digest: ...)(
    _(
        "The digest of %(name)s is %(digest)s, which differs from the digest given when the upload "
        "was started. The upload was deleted."
    ),
    _("Upload the file again."),
)
UPLOAD_INCOMPLETE = declare("UPLOAD_INCOMPLETE", lambda *, name, received, size: ..., http=409)(
    _("%(name)s is not complete: %(received)s of %(size)s bytes were uploaded."),
    _("Send the remaining bytes first."),
)
UPLOAD_OVER_LIMIT = declare("UPLOAD_OVER_LIMIT", lambda *, name, limit: ..., http=413)(
    _("%(name)s is larger than %(limit)s bytes."),
    _("Send a smaller file, or ask an administrator to raise the limit."),
)
UPLOADS_TOO_MANY = declare("UPLOADS_TOO_MANY", lambda *, limit: ..., http=409)(
    _("You have %(limit)s unfinished uploads, which is the maximum."),
    _("Finish or discard one of them; unfinished uploads also expire."),
)
