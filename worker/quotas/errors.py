from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

TEAM_LIMIT_INVALID = declare("TEAM_LIMIT_INVALID", lambda *, name, most: ...)(
    _("`%(name)s` is not a team limit, or its value is invalid."),
    _("Use a whole number up to %(most)s, 0 for no limit, or null for the site's default."),
)
TEAM_LIMIT_NEAR = declare("TEAM_LIMIT_NEAR", lambda *, team, percent, name, limit: ..., severity="notice")(
    _("Team %(team)s has used %(percent)s percent of its `%(name)s` limit (%(limit)s)."),
    _("Ask an administrator to raise the limit; the team's page shows the current usage."),
)
TEAM_RUNS_EXCEEDED = declare(
    "TEAM_RUNS_EXCEEDED", lambda *, team, limit, retry_after_s: ..., http=429, retryable=True
)(
    _("Team %(team)s has reached its limit of %(limit)s runs per day."),
    _("Try again after midnight UTC, or ask an administrator to raise the limit."),
)
TEAM_CPU_EXCEEDED = declare(
    "TEAM_CPU_EXCEEDED", lambda *, team, limit, retry_after_s: ..., http=429, retryable=True
)(
    _("Team %(team)s has reached its limit of %(limit)s seconds of CPU time per day."),
    _("Try again after midnight UTC, or ask an administrator to raise the limit."),
)
TEAM_BYTES_EXCEEDED = declare("TEAM_BYTES_EXCEEDED", lambda *, team, limit, retry_after_s: ..., http=507)(
    _("Team %(team)s has reached its limit of %(limit)s bytes of stored run files."),
    _("Erase the content of runs that are no longer needed, or ask an administrator to raise the limit."),
)
