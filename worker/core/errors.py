"""Error codes of runs, used by several packages of the worker."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CANCELLED = declare("CANCELLED", retryable=True)(
    _("The run was cancelled."), _("Run the skill again if you still need the result.")
)
WORKER_LOST = declare("WORKER_LOST", retryable=True)(
    _("The worker stopped responding during the run, so the outcome is unknown."),
    _(
        "Run the skill again. If the skill is safe to repeat, its maintainers can set "
        "`retry_on_lost` so that lost runs are retried automatically."
    ),
)
WORKER_ERROR = declare("WORKER_ERROR", lambda *, reason: ..., http=500, retryable=True)(
    _("An internal error occurred during the run: %(reason)s."),
    _("Run the skill again, or ask an administrator to find the cause in the worker's log."),
)
MODEL_NOT_CONFIGURED = declare("MODEL_NOT_CONFIGURED", http=409)(
    _("Can't run the skill: its agent loop needs a model, but no model is configured."),
    _("Ask an administrator to set SKILLQUAY_MODEL_URL and SKILLQUAY_MODEL_NAME."),
)
