from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from registry import catalog, feedback
from registry.actors import Actor
from registry.models import FeedbackOutcome
from registry.shell import ChangeCommand


class Command(ChangeCommand):
    help = "Tell how a skill did, or decide the trigger tests that were proposed; else what was told of it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG[@VERSION]")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--outcome", choices=FeedbackOutcome.values)
        which.add_argument("--accept", metavar="ID")
        which.add_argument("--decline", metavar="ID")
        parser.add_argument("--utterance", default="", help="what was said, of a wrong skill")
        parser.add_argument("--note", default="")

    def change(self, actor: Actor, options: dict[str, Any]) -> dict[str, Any]:
        name, _, number = options["skill"].partition("@")
        skill = catalog.find_skill(name, actor)
        if options["outcome"]:
            version = catalog.find_version(skill, number or None, actor)
            told = feedback.Told(options["outcome"], options["utterance"], options["note"])
            return {"skill": str(skill), "counted": feedback.report(version, told, actor)}
        if options["accept"]:
            feedback.accept(feedback.find_proposal(skill, options["accept"], actor), actor)
        if options["decline"]:
            feedback.decline(feedback.find_proposal(skill, options["decline"], actor), actor)
        return {
            "skill": str(skill),
            "proposals": [
                {"id": row.uid, "utterance": row.utterance, "must_match": row.must_match}
                for row in feedback.proposals(skill, actor)
            ],
            "counts": dict(feedback.counts(skill)),
        }
