"""``manage.py trigger_tests``: what must match a skill and what must not, written, removed and tried."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry import feedback, trials
from registry.actors import Actor
from registry.catalog import find_skill
from registry.models import Skill
from registry.permissions import Action, require
from registry.retrials import try_again
from registry.shell import WRONG_CALL, ShellCommand


class Command(ShellCommand):
    help = "A skill's trigger tests and how they ended last; writes, removes or tries them."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("skill", metavar="TEAM/SLUG")
        deeds = parser.add_mutually_exclusive_group()
        deeds.add_argument("--match", metavar="UTTERANCE", help="it must lead to the skill")
        deeds.add_argument("--not-match", metavar="UTTERANCE", help="it must not")
        deeds.add_argument("--remove", metavar="ID")
        parser.add_argument("--try", action="store_true", dest="again", help="try them beside today's skills")

    def handle(self, *args: Any, **options: Any) -> None:
        actor = self.actor(options)
        if "@" in options["skill"]:
            raise CommandError("Trigger tests are a skill's: TEAM/SLUG.", returncode=WRONG_CALL)
        skill = find_skill(options["skill"], actor)
        require(actor, Action.SETTINGS, skill=skill)
        self._changed(skill, actor, options)
        if options["again"]:
            try_again(skill, actor)
        self._answered(skill, actor, options)

    def _changed(self, skill: Skill, actor: Actor, options: dict[str, Any]) -> None:
        for name, must_match in (("match", True), ("not_match", False)):
            if options[name]:
                feedback.add_test(skill, options[name], must_match=must_match, actor=actor)
        if options["remove"]:
            feedback.remove_test(skill, options["remove"], actor)

    def _answered(self, skill: Skill, actor: Actor, options: dict[str, Any]) -> None:
        ended = {row.utterance: row for row in trials.results(skill.latest, actor)} if skill.latest else {}
        written = {row.utterance: row for row in skill.trigger_tests.order_by("pk")}
        rows = [
            {
                "id": written[text].uid if text in written else None,
                "utterance": text,
                "must_match": (written.get(text) or ended[text]).must_match,
                "origin": (written.get(text) or ended[text]).origin,
                "passed": ended[text].passed if text in ended else None,
            }
            for text in {**ended, **written}
        ]
        said = {"None": "not tried", "True": "passed", "False": "failed"}
        lines = [f"{said[str(row['passed'])]:<9}  {row['utterance']}" for row in rows]
        ok = not options["again"] or all(row["passed"] for row in rows)
        document = {"ok": ok, "skill": str(skill), "tests": rows}
        self.answer(document, lines or ["None."], as_json=options["json"], ok=ok)
