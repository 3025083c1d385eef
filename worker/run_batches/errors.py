"""Error codes of run batches, and the reasons why a batch is cancelled or skips a run."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RUN_BATCH_FILTER_REQUIRED = declare("RUN_BATCH_FILTER_REQUIRED")(
    _("Can't select the runs: the filter is empty."),
    _("Set at least one filter, such as `skill` or `status`."),
)
RUN_BATCH_EMPTY = declare("RUN_BATCH_EMPTY", http=409)(
    _("Can't start the batch: the filter matches no run that this action can change."),
    _("To cancel runs, include active runs in the filter; to repeat runs, include ended runs."),
)
RUN_BATCH_TOO_LARGE = declare("RUN_BATCH_TOO_LARGE", lambda *, count, limit: ...)(
    _("%(count)s runs match the filter; a batch can have at most %(limit)s."),
    _("Narrow the filter, for example by skill or period, and start several batches."),
)
RUN_BATCH_BUSY = declare("RUN_BATCH_BUSY", lambda *, limit: ..., http=409, retryable=True)(
    _("You already have %(limit)s active run batches."), _("Wait until one of them ends, or cancel one.")
)
RUN_BATCH_VERSION = declare("RUN_BATCH_VERSION", lambda *, version: ...)(
    _("Can't start the batch: `version` can't be `%(version)s` for this action."),
    _("To repeat runs, send `same`, `newest` or a version number; to cancel runs, leave out `version`."),
)
RUN_BATCH_INPUTS = declare("RUN_BATCH_INPUTS")(
    _("Can't set inputs for a batch that cancels runs."), _("To cancel runs, leave out `inputs`.")
)
RUN_BATCH_ENDED = declare("RUN_BATCH_ENDED", http=409)(
    _("Can't cancel the batch: it has ended."),
    _("If the batch repeats runs, undo it to cancel the runs that have not started."),
)
RUN_BATCH_NO_UNDO = declare("RUN_BATCH_NO_UNDO", http=409)(
    _("Can't undo the batch: cancelled runs can't continue."), _("Run the cancelled runs again.")
)

# Why the site cancels a batch.
RUN_BATCH_USER_GONE = declare("RUN_BATCH_USER_GONE")(
    _("The batch was cancelled: its user was deactivated, or its access token was revoked or has expired."),
    _("Start a new batch with an active account and a valid access token."),
)
RUN_BATCH_ABANDONED = declare("RUN_BATCH_ABANDONED", lambda *, attempts: ...)(
    _("The batch was cancelled: its process crashed %(attempts)s times."),
    _("Ask an administrator to check the log of the reaper process, then start a new batch."),
)

# Why a batch skips a run.
RUN_BATCH_NOT_ALLOWED = declare("RUN_BATCH_NOT_ALLOWED")(
    _("You don't have permission to cancel or repeat this run."),
    _("Ask the run's caller or a maintainer of the run's team to cancel or repeat the run."),
)
RUN_BATCH_RUN_ENDED = declare("RUN_BATCH_RUN_ENDED")(_("The run had already ended."), _("No action needed."))
RUN_BATCH_RUN_REMOVED = declare("RUN_BATCH_RUN_REMOVED")(
    _("The run was removed before the batch reached it."), _("No action needed.")
)
RUN_BATCH_STOPPED = declare("RUN_BATCH_STOPPED")(
    _("The batch was cancelled before it reached this run."), _("Start a new batch to include the run.")
)
