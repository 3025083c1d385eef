from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry.actors import Actor
from registry.api.canonical_documents import canonical_document, proposal_document
from registry.canonical import PREFIX, proposing, setting
from registry.catalog import find_named, find_team
from registry.models import Canonical
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Set, mirror or unset the canonical skill of a slug; accept or reject what waits."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="TEAM/SLUG[@VERSION]|SLUG")
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--mirror", metavar="ADDRESS", help="https://, s3:// or gs://, with --team")
        one.add_argument("--accept", metavar="DIGEST", help="answer what waits")
        one.add_argument("--reject", metavar="DIGEST", help="go on answering what is pinned")
        one.add_argument("--unset", action="store_true")
        one.add_argument(
            "--dry-run", action="store_true", help="tell whom it affects and what it may do more"
        )
        parser.add_argument("--reason", metavar="TEXT", default="")
        parser.add_argument("--follows", metavar="CHANNEL", default=proposing.LATEST)
        parser.add_argument("--digest", default="", help="refuse unless the version has this digest")
        parser.add_argument("--team", help="whose skill the mirror's copy is")
        parser.add_argument("--credentials", metavar="NAME", help="of the site's, for the mirror")
        parser.add_argument(
            "--interval", metavar="SECONDS", type=int, default=setting.MIRRORED_EVERY_S, dest="interval_s"
        )

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        slug, reason = options["name"].removeprefix(PREFIX), options["reason"]
        if options["unset"]:
            setting.unset(slug, actor, reason=reason)
            return {"unset": slug}
        if options["mirror"]:
            return _told(_mirrored(slug, actor, options), actor)
        if options["accept"]:
            return _told(setting.accept(slug, actor, digest=options["accept"], reason=reason), actor)
        if options["reject"]:
            return _told(setting.reject(slug, actor, digest=options["reject"], reason=reason), actor)
        version = find_named(options["name"], actor)
        if options["dry_run"]:
            return proposal_document(proposing.proposal(version.skill.slug, version, actor))
        more = {"follows": options["follows"], "digest": options["digest"], "reason": reason}
        return _told(setting.set_canonical(version.skill.slug, version, actor, **more), actor)


def _mirrored(slug: str, actor: Actor, options: dict[str, Any]) -> Canonical:
    credentials = {"credentials": options["credentials"]} if options["credentials"] else {}
    return setting.mirror(
        slug,
        actor,
        team=find_team(options["team"] or "", actor),
        location=options["mirror"],
        options=credentials,
        interval_s=options["interval_s"],
        reason=options["reason"],
    )


def _told(row: Canonical, actor: Actor) -> dict[str, Any]:
    return canonical_document(setting.find_canonical(row.slug, actor), is_setter=True)
