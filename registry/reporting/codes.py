"""Why a report is not taken, or not decided."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "REPORT_OPEN",
        gettext_noop("You have reported %(version)s already, and nobody has decided it yet."),
        gettext_noop("Wait for the skill's maintainers; nothing is lost."),
        http=409,
    ),
    Code(
        "REPORT_DECIDED",
        gettext_noop("This was decided before: %(state)s. %(reason)s"),
        gettext_noop("Ask the team or the site's administrator if there is something new to be said."),
        http=409,
    ),
    Code(
        "REPORTS_TOO_MANY",
        gettext_noop("More than %(limit)s reports came from you within a day."),
        gettext_noop("Tell the site's administrator; the limit is SKILLQUAY_REPORTS_A_DAY."),
        http=429,
        retryable=True,
    ),
    Code(
        "REPORT_OWN",
        gettext_noop("You published %(version)s; what is reported of it is for somebody else to decide."),
        gettext_noop("Ask another maintainer of the team, an owner or the site's administrator."),
        http=403,
    ),
)
