from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, TextOrNull
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Query, Shape, StrictText, read_body, read_query
from registry.identity.permissions import Action
from registry.identity.teams import calling_team
from registry.identity.tokens import find_token
from registry.lookup import skills
from registry.models import Effect, Rule
from registry.rules import decision as rules_decision
from registry.rules import edit
from registry.rules.decision import NO_PERMISSIONS, Decision, run_page
from registry.rules.holders import Holder

operation = Operations("rules")
_PERSON = (Action.SEE,)  # tokens are refused later: the operations require a session


class RuleDoc(Doc):
    id = serializers.CharField(source="uid")
    effect = serializers.ChoiceField(choices=Effect.values)
    name = serializers.CharField(help_text="`team/slug`, a slug, or a prefix followed by `:*`.")
    team = serializers.CharField(
        source="team.slug",
        allow_null=True,
        help_text="The team whose agents the rule applies to; null for a rule of a token.",
    )
    token = serializers.CharField(
        source="token.uid",
        allow_null=True,
        help_text="The token that the rule applies to; null for a rule of a team.",
    )
    granted = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="The permissions that an allow rule grants, by kind: hosts, filesystem, "
        "environment, secrets, tools, hooks, shell, skills and properties. A version that "
        "requests more needs approval.",
    )
    granted_to = TextOrNull(
        help_text="The version whose permissions are granted; null for deny rules and for a prefix "
        "without a version."
    )
    created_by = serializers.CharField(source="created_by.username", allow_null=True)
    created_at = serializers.DateTimeField()
    removed_at = serializers.DateTimeField(allow_null=True)


class RulesDoc(Doc):
    items = RuleDoc(many=True)


class RuleRequest(Shape):
    effect = serializers.ChoiceField(choices=Effect.values)
    name = StrictText(max_length=200, help_text="`team/slug`, a slug, or a prefix followed by `:*`.")
    version = StrictText(
        max_length=64,
        required=False,
        help_text="For allow rules: the version whose permissions are granted; default: latest, or for "
        "a prefix all matching skills.",
    )


class SuggestedRulesDoc(Doc):
    exact = serializers.CharField()
    prefix = serializers.CharField()


class PermissionDecisionDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    team = serializers.CharField(
        allow_null=True, help_text="The team that the run belongs to; null if there is none."
    )
    outcome = serializers.ChoiceField(choices=["allow", "deny", "ask"])
    basis = serializers.ChoiceField(choices=["rule", "canonical", "safe", "none", "skill"])
    rule = RuleDoc(
        allow_null=True,
        help_text="The rule that decided, or null. If the outcome is `ask`: the allow rule that matches but "
        "lacks `added_permissions`, or null.",
    )
    unsafe_properties = serializers.ListField(child=serializers.CharField())
    requested_permissions = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    added_permissions = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    suggested_rules = SuggestedRulesDoc(
        allow_null=True,
        help_text="Names for allow rules that would allow the run; null unless the outcome is `ask`.",
    )
    page_url = serializers.URLField(help_text="The page where a person can run or allow the version.")


class PermissionQuery(Query):
    skill = serializers.CharField(max_length=200, help_text="The skill: `team/slug` or a slug.")
    version = serializers.CharField(max_length=64, required=False, help_text="The version; default: latest.")
    team = serializers.CharField(
        max_length=64, required=False, help_text="The team to run as; default: as in `POST /runs`."
    )


class PermissionDecision(Endpoint):
    required_actions = {"GET": (Action.SEE, Action.RUN)}
    requires_sign_in = True

    @operation(
        "check_permission",
        "Check whether agents may run a version without approval",
        query=PermissionQuery,
        answer=PermissionDecisionDoc,
    )
    def get(self, request: Request) -> HttpResponse:
        """Checks deny rules, the canonical version, allow rules and safe properties, in this order; the first
        that applies decides. If none applies, the outcome is `ask`: runs started with a token wait for
        approval, and people can start runs directly. Agents can never run a version with
        `disable-model-invocation`.
        """
        query, actor = read_query(PermissionQuery, request), self.actor
        label, _, number = query["skill"].partition("@")
        skill = skills.find_skill(label, actor)
        version = skills.find_version(skill, query.get("version") or number or None, actor)
        named = skills.find_team(query["team"], actor) if query.get("team") else None
        decision = rules_decision.decide(version, team=calling_team(actor, skill, named), token=actor.token)
        return etag.document_response(request, decision_document(decision))


class _RulesOf(Endpoint):
    def list_rules(self, request: Request, holder: Holder) -> HttpResponse:
        items = [RuleDoc.document(rule) for rule in edit.rules_of(holder, self.actor)]
        return etag.document_response(request, {"items": items})

    def add_rule(self, request: Request, holder: Holder) -> HttpResponse:
        body = read_body(RuleRequest, request.data)
        rule = edit.add_rule(holder, body["effect"], body["name"], self.actor, number=body.get("version"))
        return etag.document_response(request, RuleDoc.document(rule), status=201)


class TeamRules(_RulesOf):
    required_actions = {"GET": (Action.SEE,), "POST": _PERSON}

    @operation("list_team_rules", "List a team's rules", answer=RulesDoc)
    def get(self, request: Request, team: str) -> HttpResponse:
        """Returns the team's active rules, deny rules first. Requires team membership or administrator
        rights.
        """
        return self.list_rules(request, skills.find_team(team, self.actor))

    @operation("add_team_rule", "Add a rule for a team's agents", body=RuleRequest, answer={201: RuleDoc})
    @idempotent()
    def post(self, request: Request, team: str) -> HttpResponse:
        """Adds a rule for the team. An allow rule covers the permissions that the version requests now; for a
        prefix, those of all matching skills. Adding the rule again updates the permissions. Requires a
        session. Owners and administrators can add all rules, maintainers only deny rules.
        """
        return self.add_rule(request, skills.find_team(team, self.actor))


class TokenRules(_RulesOf):
    required_actions = {"GET": _PERSON, "POST": _PERSON}
    requires_sign_in = True

    @operation("list_token_rules", "List the rules of an access token", answer=RulesDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the token's active rules. Requires a session of a user who manages the token: its owner, an
        administrator or, for a service account, an owner of the token's team.
        """
        return self.list_rules(request, find_token(uid, self.actor))

    @operation("add_token_rule", "Add a rule for an access token", body=RuleRequest, answer={201: RuleDoc})
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Adds a rule for the token. An allow rule applies only while the token's owner may grant permissions
        in the team of the run. Deny rules of that team take precedence. Requires a session of a user who
        manages the token.
        """
        return self.add_rule(request, find_token(uid, self.actor))


class _OneRule(Endpoint):
    def respond(self, request: Request, rule: Rule) -> HttpResponse:
        return etag.document_response(request, RuleDoc.document(rule))


class RuleDetail(_OneRule):
    required_actions = {"GET": (Action.SEE,), "DELETE": _PERSON}
    requires_sign_in = True

    @operation("get_rule", "Get a rule", answer=RuleDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the rule, even after its removal."""
        return self.respond(request, edit.find_rule(uid, self.actor))

    @operation("remove_rule", "Remove a rule", answer=RuleDoc)
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """Removes the rule. Requires a session. Owners and administrators can remove all rules of a team,
        maintainers only allow rules.
        """
        return self.respond(request, edit.remove_rule(edit.find_rule(uid, self.actor), self.actor))


class Restoration(_OneRule):
    required_actions = {"POST": _PERSON}
    requires_sign_in = True

    @operation("restore_rule", "Restore a removed rule", answer=RuleDoc)
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Restores the removed rule with its permissions. Requires a session and the role that can add such a
        rule.
        """
        rule = edit.find_rule(uid, self.actor)
        return self.respond(request, edit.restore_rule(rule, self.actor))


def decision_document(decision: Decision) -> dict[str, Any]:
    """The API document of a decision. If the outcome is "ask", ``rule`` is an allow rule that does not cover
    ``added_permissions``. For a version reserved for people, ``rule`` is None.
    """
    version, (outcome, by) = decision.version, decision.for_agents
    rule, added = (None, NO_PERMISSIONS) if by == "skill" else (decision.rule, decision.added_permissions)
    return {
        "skill": str(version.skill),
        "version": version.number,
        "team": decision.team.slug if decision.team else None,
        "outcome": outcome,
        "basis": by,
        "rule": RuleDoc.document(rule) if rule else None,
        "unsafe_properties": list(decision.unsafe_properties),
        "requested_permissions": decision.requested_permissions.document(),
        "added_permissions": added.document(),
        "suggested_rules": {"exact": decision.exact, "prefix": decision.prefix} if outcome == "ask" else None,
        "page_url": run_page(version),
    }
