from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SHARE_LINKS_OFF = declare("SHARE_LINKS_OFF", lambda *, team: ..., http=403)(
    _("Can't share the run: team %(team)s does not allow links that share its runs."),
    _(
        "Ask a maintainer of the team to turn on “Allow links that share a run "
        "with anyone” in the team's settings."
    ),
)
SHARE_RUN_UNFINISHED = declare("SHARE_RUN_UNFINISHED", http=409)(
    _("Can't share a run that has not ended."), _("Wait until the run ends.")
)
SHARE_LINKS_TOO_MANY = declare("SHARE_LINKS_TOO_MANY", lambda *, limit: ..., http=409)(
    _("The run already has %(limit)s active links."), _("Revoke one of the links first.")
)
