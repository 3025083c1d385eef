"""The refusals of rules, and those that they cause."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "RULE_DENIED",
        gettext_noop("%(version)s may not be run: the rule %(rule)s of %(holder)s forbids it."),
        gettext_noop("Whoever keeps the rule may remove it, at %(page)s; no other rule goes before it."),
        http=403,
    ),
    Code(
        "APPROVAL_NEEDED",
        gettext_noop("No rule lets agents run %(version)s for %(team)s. It asks for: %(asks)s."),
        gettext_noop(
            "An owner of the team allows %(exact)s or %(prefix)s at %(page)s; or a person presses Run there."
        ),
        http=409,
    ),
    Code(
        "NOT_FOR_AGENTS",
        gettext_noop("%(version)s is kept for people: its disable-model-invocation says so."),
        gettext_noop("A person presses Run at %(page)s."),
        http=403,
    ),
    Code(
        "RULE_NAME_INVALID",
        gettext_noop("%(name)s is not the name of skills."),
        gettext_noop("Write team/slug, a slug, or the beginning of one followed by :* as in docs/:*."),
        http=422,
    ),
    Code(
        "RULE_EFFECT_UNKNOWN",
        gettext_noop("%(effect)s is not what a rule does."),
        gettext_noop("Choose allow or deny."),
        http=422,
    ),
    Code(
        "RULE_LIMIT",
        gettext_noop("There are %(most)s rules already."),
        gettext_noop("Remove some, or let one of a prefix take the place of several."),
        http=409,
    ),
    Code(
        "RULE_IN_PLACE",
        gettext_noop("The rule %(rule)s stands again already."),
        gettext_noop("Nothing is to be done; remove the present one first to have the earlier one back."),
        http=409,
    ),
)
