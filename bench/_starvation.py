"""Simulates weeks in which agents use listed skills, with the site's listing and with a listing by use
alone.
"""

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

from registry.identity.actors import Actor
from registry.listing import list_skills as listing
from registry.models import Membership, Role, Skill, Team, User, Version
from registry.usage import scores

_BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_PLACES = 40
_DESCRIPTION = "Does one thing for one kind of request, and says in a sentence when it is to be used. " * 2


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    orders = {"by the listing": _listing_keys, "by use alone": _most_used}
    found = {name: Weeks(options, order).simulate() for name, order in orders.items()}
    print(json.dumps({"orders": found}))


def _listing_keys(actor, now):
    """The primary keys of the skills that the listing shows with their full descriptions."""
    listed = listing.list_skills(actor, limit=_PLACES, now=now)
    return {row.listed.skill.pk for row in listed.rows if row.cut is listing.Truncation.NONE}


def _most_used(actor, now):
    return {skill.pk for skill in scores.most_used(Skill.objects.recommendable_to(actor), _PLACES, now=now)}


class Weeks:
    """A simulation with one kind of request for each old skill.

    Every fourth new skill is useful: it fits one of the most common kinds better than the old skill.
    """

    def __init__(self, options, order):
        self.options, self.order, self.dice = options, order, random.Random(options["seed"])
        Skill.objects.all().delete()
        Team.objects.all().delete()
        User.objects.all().delete()
        team = Team.objects.create(slug="bench", name="Bench")
        user = User.objects.create_user(username="agent")
        Membership.objects.create(team=team, user=user, role=Role.MEMBER)
        self.team, self.actor = team, Actor(user=user)

    @transaction.atomic
    def simulate(self):
        kinds = range(self.options["skills"])
        old = {kind: [self._skill(f"old-{kind}", _BEGIN)] for kind in kinds}
        weights = [1 / (kind + 1) ** 0.8 for kind in kinds]
        for kind in kinds:  # months of earlier use, more for common kinds
            for turn in reversed(range(max(1, round(weights[kind] * 100)))):
                scores.record_use(old[kind][0], f"before:{turn}", "load", now=_BEGIN - timedelta(hours=turn))
        useful, idle = [], []
        for number in range(self.options["new"]):
            skill = self._skill(f"new-{number}", _BEGIN)
            if number % 4 == 0:
                useful.append(skill)
                old[len(useful) - 1].insert(0, skill)  # the better skill for this kind
            else:
                idle.append(skill)
        seen = self._days(old, weights)
        return {
            "places": _PLACES,
            "kinds": {
                "new and useful": self._counts(useful, seen),
                "new, not needed": self._counts(idle, seen),
            },
        }

    def _days(self, skills, weights):
        """Simulates the days; returns by primary key the days on which a skill was listed."""
        seen, kinds = {}, list(skills)
        for day in range(self.options["weeks"] * 7):
            now = _BEGIN + timedelta(days=day, hours=1)
            listed = self.order(self.actor, now)
            for key in listed:
                seen.setdefault(key, []).append(day)
            for turn, kind in enumerate(self.dice.choices(kinds, weights, k=self.options["requests"])):
                best = next((skill for skill in skills[kind] if skill.pk in listed), None)
                if best:
                    scores.record_use(best, f"agent:{turn}", "load", now=now + timedelta(minutes=turn))
        return seen

    def _skill(self, slug, at):
        skill = Skill.objects.create(team=self.team, slug=slug, name=slug, description=_DESCRIPTION)
        version = Version.objects.create(
            skill=skill, number="1.0.0", precedence="1", digest="", archive_size=0, manifest={}, body=""
        )
        Skill.objects.filter(pk=skill.pk).update(latest=version, created_at=at)
        return skill

    def _counts(self, skills, seen):
        """Figures about ``skills``: how many were listed, the first day, and the number of days in the last
        week.
        """
        first = [seen[skill.pk][0] for skill in skills if skill.pk in seen]
        last = self.options["weeks"] * 7 - 7
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
