from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import rules
from registry.actors import Actor
from registry.catalog import find_team
from registry.rules import Holder
from registry.shell import WRONG_CALL, ChangeCommand
from registry.tokens import find_token


class Command(ChangeCommand):
    help = "Allow or deny skills to a team's agents or to one token, take that back, or list the rules."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        of = parser.add_mutually_exclusive_group()
        of.add_argument("--team", metavar="TEAM")
        of.add_argument("--token", metavar="ID")
        deed = parser.add_mutually_exclusive_group()
        deed.add_argument("--allow", metavar="NAME", help="team/slug, a slug, or the beginning of one and :*")
        deed.add_argument("--deny", metavar="NAME")
        deed.add_argument("--remove", metavar="RULE", help="by its id")
        deed.add_argument("--restore", metavar="RULE", help="by its id")
        parser.add_argument("--version-number", metavar="N", help="for which it is allowed; else the latest")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if uid := options["remove"]:
            return rules.rule_document(rules.remove_rule(rules.find_rule(uid, actor), actor))
        if uid := options["restore"]:
            return rules.rule_document(rules.restore_rule(rules.find_rule(uid, actor), actor))
        holder = _holder(actor, options)
        for effect in ("allow", "deny"):
            if name := options[effect]:
                number = options["version_number"]
                return rules.rule_document(rules.add_rule(holder, effect, name, actor, number=number))
        return {"rules": [rules.rule_document(rule) for rule in rules.rules_of(holder, actor)]}


def _holder(actor: Actor, options: dict[str, Any]) -> Holder:
    if options["team"]:
        return find_team(options["team"], actor)
    if options["token"]:
        return find_token(options["token"], actor)
    raise CommandError("one of --team and --token is needed", returncode=WRONG_CALL)
