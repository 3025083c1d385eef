from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

GIT_REQUEST_INVALID = declare("GIT_REQUEST_INVALID", lambda *, reason: ..., http=400)(
    _("The git request is malformed: %(reason)s."),
    _("Fetch with git 2.0 or newer, or with another client of the smart HTTP protocol."),
)
GIT_READ_ONLY = declare("GIT_READ_ONLY", http=403)(
    _("This site's Git repositories are read-only and support only the smart HTTP protocol."),
    _(
        "To change a skill, publish a new version on the site, through the API "
        "or with a command, then fetch again."
    ),
)
GIT_BUSY = declare("GIT_BUSY", http=503, retryable=True)(
    _("Can't build the repository now: the server is busy with other repositories."),
    _("Try again in a few seconds."),
)
