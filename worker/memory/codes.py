"""Why proposed memory waits or was refused, and the refusals of memory's own verbs."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "MEMORY_REVIEWED",
        gettext_noop("A person looks at this memory before it is kept."),
        gettext_noop("Its owner, or a maintainer of the team, decides at /memory/review/."),
    ),
    Code(
        "MEMORY_RUN_FAILED",
        gettext_noop("The run failed; what it proposed to remember waits until somebody has looked at it."),
        gettext_noop("Its owner, or a maintainer of the team, decides at /memory/review/."),
    ),
    Code(
        "MEMORY_OWNER_ELSEWHERE",
        gettext_noop("This memory is for an owner with whom the caller has nothing to do."),
        gettext_noop(
            "If there is such an owner, they decide; you are not told what. To remember for the caller leave "
            "ownerId out."
        ),
    ),
    Code(
        "MEMORY_OWNER_UNKNOWN",
        gettext_noop("This memory has no owner: the run had no person, or no team, that it could be for."),
        gettext_noop("Run it as a person, for a team that you are on."),
    ),
    Code(
        "MEMORY_QUEUE_FULL",
        gettext_noop("So much proposed memory waits for this owner that no more is taken."),
        gettext_noop("Decide what waits at /memory/review/, and run it again."),
        http=409,
    ),
    Code(
        "MEMORY_EXPIRED",
        gettext_noop("Nobody decided about this memory in time."),
        gettext_noop("Run it again; the time is SKILLQUAY_MEMORY_REVIEW_DAYS."),
    ),
    Code(
        "MEMORY_DECIDED",
        gettext_noop("This was decided already: %(state)s."),
        gettext_noop("Look at the list again."),
        http=409,
    ),
    Code(
        "MEMORY_FIELD_INVALID",
        gettext_noop("This is no memory: one of %(allowed)s is expected."),
        gettext_noop("Correct the value; /api/docs/ says what each field takes."),
    ),
    Code(
        "MEMORY_DELETED",
        gettext_noop("This memory was deleted."),
        gettext_noop("It can be restored for a quarter of an hour; after that its content is gone."),
        http=410,
    ),
)
