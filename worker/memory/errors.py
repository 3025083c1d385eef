from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

MEMORY_REVIEWED = declare("MEMORY_REVIEWED")(
    _("This memory must be reviewed before it is saved."),
    _(
        "A memory of a person is reviewed by that person, a memory of a team by "
        "the team's maintainers, at /memory/review/."
    ),
)
MEMORY_RUN_FAILED = declare("MEMORY_RUN_FAILED")(
    _("The run failed, so its proposed memory must be reviewed before it is saved."),
    _(
        "A memory of a person is reviewed by that person, a memory of a team by "
        "the team's maintainers, at /memory/review/."
    ),
)
MEMORY_OWNER_ELSEWHERE = declare("MEMORY_OWNER_ELSEWHERE")(
    _("Another user or team would own this memory, so it is saved only if that owner accepts it."),
    _("Wait for that owner to review the memory, or leave out `ownerId` to save it for the caller."),
)
MEMORY_OWNER_UNKNOWN = declare("MEMORY_OWNER_UNKNOWN")(
    _("Can't save the memory: the run has no user or team that can own it."),
    _("Sign in, choose one of your teams for the run, and run the skill again."),
)
MEMORY_QUEUE_FULL = declare("MEMORY_QUEUE_FULL", http=409)(
    _("The memory's owner already has too many proposed memories waiting for review."),
    _("Ask the memory's owner to review the proposals at /memory/review/, then run the skill again."),
)
MEMORY_EXPIRED = declare("MEMORY_EXPIRED")(
    _("This proposed memory expired because it was not reviewed in time."),
    _(
        "Run the skill again, and review the memory before it expires. An administrator can set "
        "the number of days in SKILLQUAY_MEMORY_REVIEW_DAYS."
    ),
)
MEMORY_DECIDED = declare("MEMORY_DECIDED", lambda *, state: ..., http=409)(
    _("This proposed memory is no longer waiting for review (%(state)s)."),
    _("Reload the list of proposed memories."),
)
MEMORY_OWNER_MISSING = declare("MEMORY_OWNER_MISSING", http=404)(
    _("`me` has no memories here: you are not signed in, or your access token is limited to one team."),
    _("Sign in, use an access token without a team, or name a team or a run (`run:ID`) as the owner."),
)
MEMORY_FIELD_INVALID = declare("MEMORY_FIELD_INVALID", lambda *, allowed: ...)(
    _("Invalid value; allowed values: %(allowed)s."),
    _("Correct the value; /api/docs/ describes what each field accepts."),
)
MEMORY_DELETED = declare("MEMORY_DELETED", http=410)(
    _("The memory was deleted."),
    _("Restore the memory within 15 minutes of its deletion, or save it again."),
)
