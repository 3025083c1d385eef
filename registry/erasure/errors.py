"""Error codes of erasing people."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

LAST_ADMINISTRATOR = declare("LAST_ADMINISTRATOR", lambda *, user: ..., http=409)(
    _("%(user)s is the only administrator of this site."), _("Make another user an administrator first.")
)
