from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

RULE_DENIED = declare("RULE_DENIED", lambda *, version, rule, holder, page: ..., http=403)(
    _("Can't run %(version)s: rule %(rule)s of %(holder)s denies it."),
    _(
        "Ask an owner of the team or token to remove the rule at %(page)s; deny rules override all other "
        "rules."
    ),
)
APPROVAL_NEEDED = declare(
    "APPROVAL_NEEDED", lambda *, version, team, asks, exact, prefix, page: ..., http=409
)(
    _("Agents can't run %(version)s for %(team)s without approval: it requests %(asks)s."),
    _(
        "Ask a team owner to add an allow rule for %(exact)s or %(prefix)s at "
        "%(page)s, or ask a person to run the skill there."
    ),
)
APPROVAL_NEEDED_WITHOUT_TEAM = declare(
    "APPROVAL_NEEDED_WITHOUT_TEAM", lambda *, version, asks, exact, prefix, page: ..., http=409
)(
    _(
        "Agents can't run %(version)s without approval: it requests %(asks)s, and this run has no team "
        "whose rules could allow it."
    ),
    _(
        "Start the run with an access token that has an allow rule for %(exact)s or %(prefix)s, or ask "
        "a person to run the skill at %(page)s."
    ),
)
NOT_FOR_AGENTS = declare("NOT_FOR_AGENTS", lambda *, version, page: ..., http=403)(
    _("Agents can't run %(version)s: it sets `disable-model-invocation`."),
    _("Ask a person to run the skill at %(page)s."),
)
RULE_NAME_INVALID = declare("RULE_NAME_INVALID", lambda *, name: ...)(
    _("%(name)s is not a valid skill name or prefix."),
    _("Use team/skill, a skill's short name, or a prefix followed by :*, such as handbook/:*."),
)
RULE_EFFECT_UNKNOWN = declare("RULE_EFFECT_UNKNOWN", lambda *, effect: ...)(
    _("Unknown rule effect: %(effect)s."), _("Use `allow` or `deny`.")
)
RULE_LIMIT = declare("RULE_LIMIT", lambda *, most: ..., http=409)(
    _("Can't add a rule: the limit of %(most)s rules is reached."),
    _("Remove some rules, or replace several with one prefix rule."),
)
RULE_IN_PLACE = declare("RULE_IN_PLACE", lambda *, rule: ..., http=409)(
    _("Can't restore rule %(rule)s: an active rule has the same name and effect."),
    _(
        "Keep the active rule. To restore the removed rule with its earlier permissions, remove "
        "the active rule first."
    ),
)
