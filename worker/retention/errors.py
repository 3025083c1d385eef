from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RUN_UNFINISHED = declare("RUN_UNFINISHED", http=409)(
    _("The run has not ended yet."), _("Cancel the run or wait until it ends, then erase its content.")
)
RETENTION_INVALID = declare("RETENTION_INVALID", lambda *, most: {"most": most})(
    _("A retention value must be between 1 and %(most)s."),
    _(
        "Send a whole number in this range, or null to turn this rule off (for a "
        "team: to use the site's value)."
    ),
)
RETENTION_ABOVE_SITE = declare("RETENTION_ABOVE_SITE", lambda *, most: {"most": most})(
    _("Can't set this value: the site's retention policy allows at most %(most)s."),
    _("Enter at most %(most)s, or leave the field empty (`null` in the API) to use the site's value."),
)
