"""Why nothing is loaded, or nobody subscribed to."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "LOAD_NAME_MISSING",
        gettext_noop("Missing name"),
        gettext_noop("Give the id or name of a skill; `skills_list` has them."),
        http=422,
    ),
    Code(
        "LOAD_NOT_FOUND",
        gettext_noop("Skill not found: %(name)s"),
        gettext_noop("Call `skills_list`; a skill of another team is loaded as team/slug."),
        http=404,
    ),
    Code(
        "SUBSCRIPTION_TO_ITSELF",
        gettext_noop("%(team)s is offered its own skills anyway."),
        gettext_noop("Name another team."),
        http=422,
    ),
)
