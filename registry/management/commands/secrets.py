from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import secrets
from registry.actors import Actor
from registry.catalog import find_skill, find_team, find_version
from registry.models import Team, Version
from registry.secrets.documents import grant_document, needs_document, secret_document, secrets_document
from registry.secrets.keeping import reseal
from registry.shell import WRONG_CALL, ChangeCommand, exact


class Command(ChangeCommand):
    help = "Keep a team's secrets: the value is read from standard input and is never shown."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--team", metavar="TEAM")
        deed = parser.add_mutually_exclusive_group()
        deed.add_argument("--set", metavar="NAME", help="its value on standard input")
        deed.add_argument("--remove", metavar="NAME")
        deed.add_argument(
            "--grant", metavar="NAME", help="to the version --to, or with --reviewed to its skill's"
        )
        deed.add_argument("--revoke", metavar="GRANT", help="by its id")
        deed.add_argument("--review", metavar="TEAM/SLUG@VERSION", help="vouch for it in the team")
        deed.add_argument(
            "--needs", metavar="TEAM/SLUG@VERSION", help="which secrets it names, and how it stands"
        )
        deed.add_argument("--reseal", action="store_true", help="write every value anew under the first key")
        parser.add_argument("--to", metavar="TEAM/SLUG@VERSION")
        parser.add_argument(
            "--reviewed", action="store_true", help="to the versions that the team has reviewed"
        )

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        if options["reseal"]:
            return {"resealed": reseal()}
        if not options["team"]:
            raise CommandError("--team is needed", returncode=WRONG_CALL)
        return _deed(find_team(options["team"], actor), actor, options)


def _deed(team: Team, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
    if name := options["set"]:
        value = sys.stdin.read().removesuffix("\n")
        return secret_document(secrets.put_secret(team, name, value, actor), [])
    if name := options["remove"]:
        secrets.remove_secret(secrets.find_secret(team, name, actor), actor)
        return {"removed": name}
    if name := options["grant"]:
        to = "reviewed" if options["reviewed"] else "version"
        secret, version = secrets.find_secret(team, name, actor), _version(options["to"] or "", actor)
        return grant_document(secrets.grant(secret, version, actor, to=to))
    if uid := options["revoke"]:
        return grant_document(secrets.revoke(uid, team, actor))
    if label := options["review"]:
        version = _version(label, actor)
        secrets.review(version, team, actor)
        return needs_document(version, team)
    if label := options["needs"]:
        return needs_document(_version(label, actor), team)
    return secrets_document(team, actor)


def _version(label: str, actor: Actor) -> Version:
    name, _, number = exact(label).partition("@")
    return find_version(find_skill(name, actor), number, actor)
