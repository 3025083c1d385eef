"""Which skills agents may run unasked, and which never: a team's rules and a token's."""

from registry.rules import codes as codes
from registry.rules.changing import (
    MOST,
    add_rule,
    find_rule,
    register_follower,
    remove_rule,
    restore_rule,
    rules_of,
    standing_rules,
)
from registry.rules.covering import covered_by
from registry.rules.deciding import (
    Decision,
    Outcome,
    binds,
    decide,
    decide_still,
    require_allowed,
    require_for_agents,
    require_leave,
    require_undenied,
)
from registry.rules.documents import decision_document, leave_document, rule_document
from registry.rules.granting import asks_of_version
from registry.rules.holders import Holder, may_deny, may_grant

__all__ = [
    "MOST",
    "Decision",
    "Holder",
    "Outcome",
    "add_rule",
    "asks_of_version",
    "binds",
    "covered_by",
    "decide",
    "decide_still",
    "decision_document",
    "find_rule",
    "leave_document",
    "may_deny",
    "may_grant",
    "register_follower",
    "remove_rule",
    "require_allowed",
    "require_for_agents",
    "require_leave",
    "require_undenied",
    "restore_rule",
    "rule_document",
    "rules_of",
    "standing_rules",
]
