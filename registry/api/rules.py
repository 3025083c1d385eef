"""Rules of teams and of tokens, and what they come to for one version."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, rules
from registry.api import etags, examples
from registry.api.documents import Doc
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Query, Shape, StrictText, read_body, read_query
from registry.models import Effect, Rule
from registry.permissions import Action
from registry.rules import Holder
from registry.teams import calling_team
from registry.tokens import find_token

_ASKS = {"filesystem": ["read-only"], "tools": ["Bash"]}
_RULE: dict[str, Any] = {
    "id": "01kajq3s5d8m6v9x2c4b7n1p20",
    "effect": "allow",
    "name": "docs/summarise",
    "team": "docs",
    "token": None,
    "granted": _ASKS,
    "given_for": "docs/summarise@1.2.0",
    "made_by": "alice",
    "made_at": "2026-11-20T09:30:00.000000Z",
    "removed_at": None,
}
_DECISION: dict[str, Any] = {
    "skill": "docs/summarise",
    "version": "1.3.0",
    "team": "docs",
    "outcome": "ask",
    "by": "nobody",
    "rule": _RULE,
    "unsafe_properties": ["allowed_tools", "security.network", "security.network_allowlist"],
    "asks": {**_ASKS, "hosts": ["api.example.org"]},
    "new": {"hosts": ["api.example.org"]},
    "offers": {"exact": "docs/summarise", "prefix": "docs/summarise:*"},
    "page": "https://skills.example/skills/docs/summarise/run/?version=1.3.0",
}
_PERSON = (Action.SEE,)  # no token reaches further: the verb asks for the person


class RuleDoc(Doc):
    id = serializers.CharField()
    effect = serializers.ChoiceField(choices=Effect.values)
    name = serializers.CharField(help_text="`team/slug`, a slug, or the beginning of one and `:*`.")
    team = serializers.CharField(allow_null=True, help_text="Whose agents it is for.")
    token = serializers.CharField(allow_null=True, help_text="Or the one token that it is for.")
    granted = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What an allowance holds for: hosts filesystem environment secrets tools hooks shell "
        "skills properties. A version that asks for more asks again.",
    )
    given_for = serializers.CharField(allow_null=True, help_text="The version; null for a prefix's skills.")
    made_by = serializers.CharField(allow_null=True)
    made_at = serializers.DateTimeField()
    removed_at = serializers.DateTimeField(allow_null=True)


class RulesDoc(Doc):
    items = RuleDoc(many=True)


class NewRule(Shape):
    effect = serializers.ChoiceField(choices=Effect.values)
    name = StrictText(max_length=200, help_text="`team/slug`, a slug, or the beginning of one and `:*`.")
    version = StrictText(
        max_length=64, required=False, help_text="For which an allowance is given; else the latest."
    )


class OfferDoc(Doc):
    exact = serializers.CharField()
    prefix = serializers.CharField()


class DecisionDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField()
    team = serializers.CharField(allow_null=True, help_text="For which it would run, whose rules hold.")
    outcome = serializers.ChoiceField(choices=["allow", "deny", "ask"])
    by = serializers.ChoiceField(choices=["rule", "canonical", "safe", "nobody", "skill"])
    rule = RuleDoc(allow_null=True, help_text="That made it; of an ask the allowance that `new` goes beyond.")
    unsafe_properties = serializers.ListField(child=serializers.CharField())
    asks = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    new = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    offers = OfferDoc(allow_null=True, help_text="The names of rules that would allow it.")
    page = serializers.URLField(help_text="Where a person runs it, or an owner allows it.")


class DecisionQuery(Query):
    skill = serializers.CharField(max_length=200, help_text="`team/slug`, or a slug.")
    version = serializers.CharField(max_length=64, required=False, help_text="The latest when not said.")
    team = serializers.CharField(max_length=64, required=False, help_text="As of a run.")


class PermissionDecision(Endpoint):
    needs = {"GET": (Action.SEE, Action.RUN)}
    signed_in = True

    @extend_schema(
        operation_id="decide_permission",
        summary="Whether agents may run a version unasked",
        tags=["rules"],
        parameters=[DecisionQuery],
        responses=DecisionDoc,
        examples=[examples.answers(_DECISION)],
    )
    def get(self, request: Request) -> HttpResponse:
        """By deny rules, canonical, allow rules, only safe properties, in this order; else a person is
        asked. Runs that a token asks for wait for a person unless it is `allow`; people run it."""
        query, actor = read_query(DecisionQuery, request), self.actor
        label, _, number = query["skill"].partition("@")
        skill = catalog.find_skill(label, actor)
        version = catalog.find_version(skill, query.get("version") or number or None, actor)
        named = catalog.find_team(query["team"], actor) if query.get("team") else None
        decision = rules.decide(version, team=calling_team(actor, skill, named), token=actor.token)
        return etags.document_response(request, rules.decision_document(decision))


class _RulesOf(Endpoint):
    def listed(self, request: Request, holder: Holder) -> HttpResponse:
        items = [rules.rule_document(rule) for rule in rules.rules_of(holder, self.actor)]
        return etags.document_response(request, {"items": items})

    def add(self, request: Request, holder: Holder) -> HttpResponse:
        asked = read_body(NewRule, request.data)
        rule = rules.add_rule(holder, asked["effect"], asked["name"], self.actor, number=asked.get("version"))
        return etags.document_response(request, rules.rule_document(rule), status=201)


class TeamRules(_RulesOf):
    needs = {"GET": (Action.SEE,), "POST": _PERSON}

    @extend_schema(
        operation_id="list_team_rules",
        summary="List a team's rules",
        tags=["rules"],
        responses=RulesDoc,
        examples=[examples.answers({"items": [_RULE]})],
    )
    def get(self, request: Request, team: str) -> HttpResponse:
        """For members; those that stand, denials first."""
        return self.listed(request, catalog.find_team(team, self.actor))

    @extend_schema(
        operation_id="add_team_rule",
        summary="Allow or deny skills to a team's agents",
        tags=["rules"],
        request=NewRule,
        responses={201: RuleDoc},
        examples=[
            examples.asks({"effect": "allow", "name": "docs/summarise"}),
            examples.answers(_RULE, "201"),
        ],
    )
    def post(self, request: Request, team: str) -> HttpResponse:
        """In a session: maintainers deny, owners allow. An allowance holds for what the version asks for,
        one of a prefix for what its skills ask for today; made again, for what is asked then."""
        return once(request, request.data, lambda: self.add(request, catalog.find_team(team, self.actor)))


class TokenRules(_RulesOf):
    needs = {"GET": _PERSON, "POST": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="list_token_rules",
        summary="List the rules of an access token",
        tags=["rules"],
        responses=RulesDoc,
        examples=[examples.answers({"items": [{**_RULE, "team": None, "token": _RULE["id"]}]})],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """For its owner, in a session."""
        return self.listed(request, find_token(uid, self.actor))

    @extend_schema(
        operation_id="add_token_rule",
        summary="Allow or deny skills to an access token",
        tags=["rules"],
        request=NewRule,
        responses={201: RuleDoc},
        examples=[
            examples.asks({"effect": "deny", "name": "docs/:*"}),
            examples.answers({**_RULE, "team": None, "token": _RULE["id"]}, "201"),
        ],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """For its owner, in a session. An allowance counts while its owner may grant it to the team of the
        run, and never against a denial of that team."""
        return once(request, request.data, lambda: self.add(request, find_token(uid, self.actor)))


class _OneRule(Endpoint):
    def told(self, request: Request, rule: Rule) -> HttpResponse:
        return etags.document_response(request, rules.rule_document(rule))


class RuleDetail(_OneRule):
    needs = {"GET": (Action.SEE,), "DELETE": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="get_rule",
        summary="Read one rule",
        tags=["rules"],
        responses=RuleDoc,
        examples=[examples.answers(_RULE)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """A removed one too."""
        return self.told(request, rules.find_rule(uid, self.actor))

    @extend_schema(
        operation_id="remove_rule",
        summary="Remove a rule",
        tags=["rules"],
        responses={200: RuleDoc},
        examples=[examples.answers({**_RULE, "removed_at": "2026-11-20T10:00:00.000000Z"})],
    )
    def delete(self, request: Request, uid: str) -> HttpResponse:
        """In a session: maintainers remove allowances, owners denials."""
        return self.told(request, rules.remove_rule(rules.find_rule(uid, self.actor), self.actor))


class Restoration(_OneRule):
    needs = {"POST": _PERSON}
    signed_in = True

    @extend_schema(
        operation_id="restore_rule",
        summary="Put a removed rule back",
        tags=["rules"],
        request=None,
        responses=RuleDoc,
        examples=[examples.answers(_RULE)],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """As it was: an allowance for what it had been given for."""

        def act() -> HttpResponse:
            rule = rules.find_rule(uid, self.actor)
            return self.told(request, rules.restore_rule(rule, self.actor))

        return once(request, uid, act)
