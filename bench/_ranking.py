"""A million used skills in a process with a site of its own: the most used of them, two ways."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import heapq
import json
import random
import sys
import time
from datetime import timedelta
from itertools import count, islice
from math import log

import django

django.setup()

from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Exp, Greatest
from django.utils import timezone

from bench import _scratch
from registry import bulk, usage
from registry.actors import ANONYMOUS, administrator_actor
from registry.models import Skill, Team

_AT_ONCE = 20_000
_SORTS = 5  # full sorts that are timed, spread over the rounds
_MOST_AGE_DAYS = 400


def main():
    asked = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    now = timezone.now()
    _fill(asked["skills"], now)
    rows = [
        _measured(name, actor, most, asked["rounds"], now)
        for name, actor in (("administrator", administrator_actor()), ("stranger", ANONYMOUS))
        for most in (20, 100)
    ]
    print(json.dumps({"skills": asked["skills"], "database": connection.vendor, "rows": rows}))


def _fill(skills, now):
    """Rows like one that the ORM wrote, each with uses of its own: many with few, few with many."""
    dice = random.Random(9)
    team = Team.objects.create(slug="bench", name="Bench")
    first = Skill.objects.create(
        team=team, slug="s0", name="Skill", visibility="public", search_scope="public"
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM registry_skill WHERE id = %s", [first.pk])
        columns = [column[0] for column in cursor.description]
        like = dict(zip(columns, cursor.fetchone(), strict=True))
    first.delete()
    del like["id"]
    rows = (tuple({**like, **_used(dice, now, number)}.values()) for number in count())
    rows = islice(rows, skills)
    with transaction.atomic():
        while some := list(islice(rows, _AT_ONCE)):
            bulk.insert(Skill, list(like), some)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _used(dice, now, number):
    times = int(dice.paretovariate(0.8))
    last = now - timedelta(days=dice.random() ** 2 * _MOST_AGE_DAYS)
    heat = log(times) + last.timestamp() * log(2) / usage.HALF_LIFE.total_seconds()
    stored = connection.ops.adapt_datetimefield_value(last)
    some = {"usage_count": min(times, 10**6), "last_used_at": stored, "hot_key": heat}
    return {"uid": f"{number:026}", "slug": f"s{number}", **some}


def _measured(name, actor, most, rounds, now):
    skills = Skill.objects.visible_to(actor)
    quick, work, sorts = [], [], []
    for turn in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        found = usage.most_used(skills, most, now=now)
        quick.append((time.perf_counter() - began) * 1000)
        work.append((time.process_time() - worked) * 1000)
        if turn % max(rounds // _SORTS, 1) == 0:
            began = time.perf_counter()
            list(_sorted(skills, now)[:most])
            sorts.append((time.perf_counter() - began) * 1000)
    two, cpu = _scratch.spread(quick), _scratch.spread(work)
    ratios = sorted(each / two["p50"] for each in sorts)
    return {
        "reader": name,
        "most": most,
        "equal": [skill.pk for skill in found] == _by_formula(most, now),
        "two_indexes": {**two, "cpu_p50": cpu["p50"], "cpu_p95": cpu["p95"]},
        "full_sort": _scratch.spread(sorts),
        "ratio": {
            "median": round(ratios[len(ratios) // 2]),
            "least": round(ratios[0]),
            "most": round(ratios[-1]),
        },
    }


def _sorted(skills, now):
    """What the database makes of the formula without an index."""
    heat = now.timestamp() * log(2) / usage.HALF_LIFE.total_seconds()
    score = Greatest(Exp(F("hot_key") - heat), F("usage_count") * usage.FLOOR)
    return skills.order_by(score.desc(), "id")


def _by_formula(most, now):
    """The keys of the highest scores, reckoned in Python from every row."""
    rows = Skill.objects.values_list("pk", "usage_count", "last_used_at").iterator()
    scored = ((-usage.score(times, last, now), key) for key, times, last in rows)
    return [key for _, key in heapq.nsmallest(most, scored)]


if __name__ == "__main__":
    main()
