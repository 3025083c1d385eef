"""Error codes of schedules: invalid settings, reasons for a pause, and reasons why a due time has no run."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SCHEDULE_TIME_REQUIRED = declare("SCHEDULE_TIME_REQUIRED")(
    _("A schedule needs exactly one of `cron`, `every_s` and `at`."),
    _("Send a cron expression, a number of seconds, or a date and time."),
)
SCHEDULE_ZONE_UNKNOWN = declare("SCHEDULE_ZONE_UNKNOWN", lambda *, zone: ...)(
    _("The time zone %(zone)s is unknown."), _("Use a name such as Europe/Berlin or Asia/Shanghai.")
)
SCHEDULE_CRON_INVALID = declare("SCHEDULE_CRON_INVALID", lambda *, cron, reason: ...)(
    _("The cron expression %(cron)s is invalid: %(reason)s."),
    _("Use five fields: minute, hour, day of month, month, day of week; such as 30 8 * * 1-5."),
)
SCHEDULE_INTERVAL_INVALID = declare("SCHEDULE_INTERVAL_INVALID", lambda *, least, most: ...)(
    _("The interval must be between %(least)s and %(most)s seconds."), _("Choose another interval.")
)
SCHEDULE_NEVER_DUE = declare("SCHEDULE_NEVER_DUE")(
    _("The schedule has no due time in the future."), _("Choose a time in the future.")
)
SCHEDULE_VERSION_INVALID = declare("SCHEDULE_VERSION_INVALID")(
    _("A schedule can't have both a version and a channel."),
    _("Send `version` to stay on one version, or `channel` to follow a channel."),
)
SCHEDULE_RUN_AS_INVALID = declare("SCHEDULE_RUN_AS_INVALID", lambda *, name: ..., http=403)(
    _("You can't schedule runs as %(name)s."),
    _("Choose yourself, one of your tokens, or a service account of a team that you own."),
)
SCHEDULE_STATE = declare("SCHEDULE_STATE", lambda *, state: ..., http=409)(
    _("Not possible: the schedule's state is %(state)s."),
    _(
        "Reload the schedule: only an active schedule can be paused or run now, "
        "and only a paused one can be resumed."
    ),
)
SCHEDULE_UNDO_EXPIRED = declare("SCHEDULE_UNDO_EXPIRED", http=409)(
    _("Can't restore the schedule: the time limit for undoing its deletion has passed."),
    _("Create a new schedule."),
)

# Reasons why the site pauses a schedule.
SCHEDULE_USER_INACTIVE = declare("SCHEDULE_USER_INACTIVE", lambda *, user: ...)(
    _("The schedule runs as %(user)s, whose account is deactivated."),
    _("Reactivate the account or edit the schedule to run as another account, then resume the schedule."),
)
SCHEDULE_TOKEN_INVALID = declare("SCHEDULE_TOKEN_INVALID", lambda *, token: ...)(
    _("The schedule's access token %(token)s was revoked or has expired."),
    _("Edit the schedule to run as another account or with another token, then resume the schedule."),
)
SCHEDULE_ACCESS_LOST = declare("SCHEDULE_ACCESS_LOST", lambda *, user, skill: ...)(
    _("The schedule runs as %(user)s, who can no longer run %(skill)s."),
    _(
        "Ask an owner of the skill's team to restore the user's access, or edit the schedule to "
        "run as another account. Then resume the schedule."
    ),
)
SCHEDULE_TEAM_ARCHIVED = declare("SCHEDULE_TEAM_ARCHIVED", lambda *, team: ...)(
    _("The schedule's team %(team)s is archived."), _("Unarchive the team, then resume the schedule.")
)
SCHEDULE_SKILL_MOVED = declare("SCHEDULE_SKILL_MOVED", lambda *, skill: ...)(
    _("The skill now belongs to another team: %(skill)s."),
    _("Resume the schedule if you trust this team."),
)
SCHEDULE_SKILL_DELETED = declare("SCHEDULE_SKILL_DELETED", lambda *, skill: ...)(
    _("Can't run the schedule: the skill %(skill)s was deleted."), _("Schedule another skill.")
)
SCHEDULE_INPUTS_CHANGED = declare("SCHEDULE_INPUTS_CHANGED", lambda *, version: ...)(
    _("The parameters of %(version)s differ from the parameters that the schedule was saved with."),
    _("Edit the schedule's inputs, or resume the schedule if the inputs are still right."),
)
SCHEDULE_PERMISSIONS_CHANGED = declare("SCHEDULE_PERMISSIONS_CHANGED", lambda *, version: ...)(
    _("The permissions of %(version)s differ from the permissions that the schedule was saved with."),
    _("Review the version's permissions, then resume the schedule."),
)
SCHEDULE_DIGEST_CHANGED = declare("SCHEDULE_DIGEST_CHANGED", lambda *, version: ...)(
    _("The content of %(version)s differs from the content that the schedule is pinned to."),
    _("Review the version, then edit the schedule to pin the version again."),
)

# Reasons why a due time has no run.
FIRING_MISSED = declare("FIRING_MISSED")(
    _(
        "No run was started: the site was offline at this time, and the schedule's setting “Missed "
        "runs” skips this run."
    ),
    _("Under “Missed runs” in the schedule, choose an option that starts missed runs."),
)
FIRING_OVERLAP = declare("FIRING_OVERLAP", lambda *, run: ...)(
    _("No run was started: an earlier run of the schedule had not ended (%(run)s)."),
    _("Choose a longer interval, or another option under “Overlap with an earlier run” in the schedule."),
)
FIRING_QUEUE_FULL = declare("FIRING_QUEUE_FULL", lambda *, limit: ...)(
    _("No run was started: %(limit)s earlier runs of the schedule were already waiting."),
    _("Choose a longer interval."),
)
FIRING_APPROVAL = declare("FIRING_APPROVAL", lambda *, run: ...)(
    _("No run was started: an earlier run of the schedule is waiting for approval (%(run)s)."),
    _(
        "Approve or deny that run; an approval also covers the schedule's later "
        "runs with the same content and permissions."
    ),
)
FIRING_PAUSED = declare("FIRING_PAUSED")(
    _("No run was started: the schedule was paused."), _("Resume the schedule.")
)
FIRING_ABANDONED = declare("FIRING_ABANDONED", lambda *, attempts: ...)(
    _(
        "Can't start this run: the process that starts scheduled runs crashed %(attempts)s times while "
        "starting it."
    ),
    _("Ask an administrator to check the log of the reaper process."),
)
