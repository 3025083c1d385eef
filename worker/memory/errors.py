from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

MEMORY_REVIEWED = declare("MEMORY_REVIEWED")(
    _("This memory must be reviewed before it is saved."),
    _("Ask the memory's owner, or a maintainer of the team that owns it, to review it at /memory/review/."),
)
MEMORY_RUN_FAILED = declare("MEMORY_RUN_FAILED")(
    _("The run failed, so its proposed memory must be reviewed before it is saved."),
    _("Ask the memory's owner, or a maintainer of the team that owns it, to review it at /memory/review/."),
)
MEMORY_OWNER_ELSEWHERE = declare("MEMORY_OWNER_ELSEWHERE")(
    _("The run can't save a memory of another user or team unless that owner reviews it."),
    _("Wait for that owner to review the memory, or leave out `ownerId` to save it for the caller."),
)
MEMORY_OWNER_UNKNOWN = declare("MEMORY_OWNER_UNKNOWN")(
    _("Can't save the memory: the run has no user or team that can own it."),
    _("Run the skill as a signed-in user, for one of your teams."),
)
MEMORY_QUEUE_FULL = declare("MEMORY_QUEUE_FULL", http=409)(
    _("The memory's owner already has too many proposed memories waiting for review."),
    _("Ask the memory's owner to review the proposals at /memory/review/, then run the skill again."),
)
MEMORY_EXPIRED = declare("MEMORY_EXPIRED")(
    _("This proposed memory expired because it was not reviewed in time."),
    _("Run the skill again, and review the memory within the time limit (SKILLQUAY_MEMORY_REVIEW_DAYS)."),
)
MEMORY_DECIDED = declare("MEMORY_DECIDED", lambda *, state: ..., http=409)(
    _("This proposed memory is no longer waiting for review (%(state)s)."), _("Reload the list.")
)
MEMORY_FIELD_INVALID = declare("MEMORY_FIELD_INVALID", lambda *, allowed: ...)(
    _("Invalid value; allowed values: %(allowed)s."),
    _("Correct the value; /api/docs/ describes what each field accepts."),
)
MEMORY_DELETED = declare("MEMORY_DELETED", http=410)(
    _("The memory was deleted."),
    _("Restore the memory within 15 minutes of its deletion, or save it again."),
)
