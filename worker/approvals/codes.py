"""The refusals of approvals, and those that they end a run with."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "APPROVAL_DENIED",
        gettext_noop("%(by)s did not let it run: %(reason)s"),
        gettext_noop("Do what the reason says, or ask them; the same run asked for again asks again."),
        http=403,
    ),
    Code(
        "APPROVAL_EXPIRED",
        gettext_noop("Nobody let it run within %(hours)s hours."),
        gettext_noop("Tell a maintainer of the team, then run it again."),
        http=409,
        retryable=True,
    ),
    Code(
        "APPROVAL_DECIDED",
        gettext_noop("The run waits no more: it is %(status)s."),
        gettext_noop("Look at the run; somebody decided before, or it was cancelled."),
        http=409,
    ),
    Code(
        "APPROVAL_RULE_IMPOSSIBLE",
        gettext_noop("No rule can be kept for %(skill)s: you do not see it, or the run is for no team."),
        gettext_noop("Allow it once."),
        http=409,
    ),
)
