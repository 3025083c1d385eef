from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

APPROVAL_DENIED = declare("APPROVAL_DENIED", lambda *, by, reason: ..., http=403)(
    _("%(by)s denied this run: %(reason)s"),
    _(
        "Fix the problem given in the reason, or contact the person who denied the run, then run "
        "the skill again to request approval."
    ),
)
APPROVAL_EXPIRED = declare("APPROVAL_EXPIRED", lambda *, hours: ..., http=409, retryable=True)(
    _("This run was not approved within %(hours)s hours."),
    _("Run the skill again, and ask a maintainer of the team to approve the new run in time."),
)
APPROVAL_DECIDED = declare("APPROVAL_DECIDED", lambda *, status: ..., http=409)(
    _("This run is no longer waiting for approval (status: %(status)s)."),
    _("Open the run to see who decided it, or whether it was cancelled."),
)
APPROVAL_RULE_IMPOSSIBLE = declare("APPROVAL_RULE_IMPOSSIBLE", lambda *, skill: ..., http=409)(
    _("Can't create a rule for %(skill)s: you can't see the skill, or the run has no team."),
    _("Approve or deny this run without adding a rule."),
)
APPROVAL_OUTDATED = declare("APPROVAL_OUTDATED", lambda *, version: ..., http=409)(
    _("%(version)s now requests more permissions than this approval request lists."),
    _(
        "Approve only this run, or start a new run and decide on its approval request, which lists "
        "all permissions."
    ),
)
