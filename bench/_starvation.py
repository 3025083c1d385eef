"""Weeks of agents that use what they are told of, in a site of its own: by the listing, and by use alone."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from statistics import median

import django

django.setup()

from django.core.management import call_command
from django.db import transaction

from registry import listing, usage
from registry.actors import Actor
from registry.models import Membership, Role, Skill, Team, User, Version

_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_PLACES = 40
_DESCRIPTION = "Does one thing for one kind of request, and says in a sentence when it is to be used. " * 2


def main():
    asked = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    orders = {"by the listing": _listed, "by use alone": _most_used}
    found = {name: Weeks(asked, order).lived() for name, order in orders.items()}
    print(json.dumps({"orders": found}))


def _listed(actor, now):
    """The keys of those whose whole description an agent is told."""
    told = listing.list_skills(actor, limit=_PLACES, now=now)
    return {row.offer.skill.pk for row in told.rows if row.cut is listing.Cut.NONE}


def _most_used(actor, now):
    """The disease: who is used is listed, who is listed is used."""
    return {skill.pk for skill in usage.most_used(Skill.objects.reachable_by(actor), _PLACES, now=now)}


class Weeks:
    """A kind of request a skill; the useful new ones do better what the ten commonest kinds ask for."""

    def __init__(self, asked, order):
        self.asked, self.order, self.dice = asked, order, random.Random(asked["seed"])
        Skill.objects.all().delete()
        Team.objects.all().delete()
        User.objects.all().delete()
        team = Team.objects.create(slug="bench", name="Bench")
        user = User.objects.create_user(username="agent")
        Membership.objects.create(team=team, user=user, role=Role.MEMBER)
        self.team, self.actor = team, Actor(user=user)

    @transaction.atomic
    def lived(self):
        kinds = range(self.asked["skills"])
        old = {kind: [self._skill(f"old-{kind}", _BEGIN)] for kind in kinds}
        weights = [1 / (kind + 1) ** 0.8 for kind in kinds]
        for kind in kinds:  # months of use before, the common ones more
            for turn in reversed(range(max(1, round(weights[kind] * 100)))):
                usage.record_use(old[kind][0], f"before:{turn}", "load", now=_BEGIN - timedelta(hours=turn))
        useful, idle = [], []
        for number in range(self.asked["new"]):
            skill = self._skill(f"new-{number}", _BEGIN)
            if number % 4 == 0:
                useful.append(skill)
                old[len(useful) - 1].insert(0, skill)  # the better one for this kind
            else:
                idle.append(skill)
        seen = self._days(old, weights)
        return {
            "places": _PLACES,
            "kinds": {
                "new and useful": self._told(useful, seen),
                "new, nobody needs": self._told(idle, seen),
            },
        }

    def _days(self, skills, weights):
        """By skill, the days on which its description was told."""
        seen, kinds = {}, list(skills)
        for day in range(self.asked["weeks"] * 7):
            now = _BEGIN + timedelta(days=day, hours=1)
            told = self.order(self.actor, now)
            for key in told:
                seen.setdefault(key, []).append(day)
            for turn, kind in enumerate(self.dice.choices(kinds, weights, k=self.asked["requests"])):
                best = next((skill for skill in skills[kind] if skill.pk in told), None)
                if best:
                    usage.record_use(best, f"agent:{turn}", "load", now=now + timedelta(minutes=turn))
        return seen

    def _skill(self, slug, at):
        skill = Skill.objects.create(team=self.team, slug=slug, name=slug, description=_DESCRIPTION)
        version = Version.objects.create(
            skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0, manifest={}, body=""
        )
        Skill.objects.filter(pk=skill.pk).update(latest=version, created_at=at)
        return skill

    def _told(self, skills, seen):
        """How many were told of, on which day first, and how often in the last week."""
        first = [seen[skill.pk][0] for skill in skills if skill.pk in seen]
        last = self.asked["weeks"] * 7 - 7
        late = [sum(day >= last for day in seen.get(skill.pk, ())) for skill in skills]
        rows = Skill.objects.filter(pk__in=[skill.pk for skill in skills])
        return {
            "skills": len(skills),
            "ever described": len(first),
            "first on day, median": median(first) if first else None,
            "first on day, last": max(first) if first else None,
            "days of the last week, mean": round(sum(late) / max(len(late), 1), 1),
            "uses, median": median(rows.values_list("usage_count", flat=True)),
        }


if __name__ == "__main__":
    main()
