from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

REPORT_OPEN = declare("REPORT_OPEN", lambda *, version: ..., http=409)(
    _("You already reported %(version)s, and that report is still open."),
    _("Wait for the skill's maintainers to decide."),
)
REPORT_DECIDED = declare("REPORT_DECIDED", lambda *, state, reason: ..., http=409)(
    _("This report was already decided (%(state)s): %(reason)s"),
    _("If you have new information, contact the skill's team or an administrator."),
)
REPORTS_TOO_MANY = declare("REPORTS_TOO_MANY", lambda *, limit: ..., http=429, retryable=True)(
    _("You have reached the limit of %(limit)s reports per day."),
    _("Try again later, or ask an administrator to raise SKILLQUAY_REPORTS_PER_DAY."),
)
REPORT_OWN = declare("REPORT_OWN", lambda *, version: ..., http=403)(
    _("You can't decide on reports about %(version)s because you published it."),
    _("Ask another maintainer, an owner of the team or an administrator to decide on the reports."),
)
RELEASE_OWN = declare("RELEASE_OWN", lambda *, version: ..., http=403)(
    _("You can't review %(version)s: the reviewer must be a signed-in user other than the publisher."),
    _("Ask another maintainer of the team, an owner or an administrator to review the version."),
)
NOT_HELD = declare("NOT_HELD", lambda *, version: ..., http=409)(
    _("%(version)s is not held for review."), _("No action needed: only held versions need to be released.")
)
