from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

INPUT_NOT_FOUND = declare("INPUT_NOT_FOUND", lambda *, name: ...)(
    _("The input file %(name)s was not found, has expired, or belongs to another user."),
    _("Upload the file again, or choose an artifact of a run that you can read."),
)
INPUT_TOO_LARGE = declare("INPUT_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The file is larger than %(limit)s bytes."),
    _("Send a smaller file, or ask an administrator to raise SKILLQUAY_MAX_INPUT_BYTES."),
)
INPUT_NAME_INVALID = declare("INPUT_NAME_INVALID", lambda *, name: ...)(
    _("%(name)s is not a valid file name."),
    _("Use a file name of at most 255 bytes without slashes or control characters."),
)
