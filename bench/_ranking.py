"""Measures the ranking of a million skills by use, with index reads and with a full sort."""

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
from registry.core import sql
from registry.identity.actors import ANONYMOUS, administrator_actor
from registry.models import Skill, Team
from registry.usage import scores

_BATCH = 20_000
_SORTS = 5  # number of timed full sorts, spread over the rounds
_MAX_AGE_DAYS = 400


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    now = timezone.now()
    _fill(options["skills"], now)
    rows = [
        _measure(name, actor, limit, options["rounds"], now)
        for name, actor in (("administrator", administrator_actor()), ("stranger", ANONYMOUS))
        for limit in (20, 100)
    ]
    print(json.dumps({"skills": options["skills"], "database": connection.vendor, "rows": rows}))


def _fill(skills, now):
    """Creates skills by copying a row that the ORM wrote. Many skills have few uses, few have many."""
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
    rows = (tuple({**like, **_usage(dice, now, number)}.values()) for number in count())
    rows = islice(rows, skills)
    with transaction.atomic():
        while some := list(islice(rows, _BATCH)):
            sql.insert_rows(Skill, list(like), some)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def _usage(dice, now, number):
    times = int(dice.paretovariate(0.8))
    last = now - timedelta(days=dice.random() ** 2 * _MAX_AGE_DAYS)
    heat = log(times) + last.timestamp() * log(2) / scores.HALF_LIFE.total_seconds()
    stored = connection.ops.adapt_datetimefield_value(last)
    some = {"usage_count": min(times, 10**6), "last_used_at": stored, "hot_key": heat}
    return {"uid": f"{number:026}", "slug": f"s{number}", **some}


def _measure(name, actor, limit, rounds, now):
    skills = Skill.objects.visible_to(actor)
    quick, work, sorts = [], [], []
    for turn in range(rounds):
        began, worked = time.perf_counter(), time.process_time()
        found = scores.most_used(skills, limit, now=now)
        quick.append((time.perf_counter() - began) * 1000)
        work.append((time.process_time() - worked) * 1000)
        if turn % max(rounds // _SORTS, 1) == 0:
            began = time.perf_counter()
            list(_sorted(skills, now)[:limit])
            sorts.append((time.perf_counter() - began) * 1000)
    two, cpu = _scratch.spread(quick), _scratch.spread(work)
    ratios = sorted(each / two["p50"] for each in sorts)
    return {
        "reader": name,
        "most": limit,
        "equal": [skill.pk for skill in found] == _by_formula(limit, now),
        "two_indexes": {**two, "cpu_p50": cpu["p50"], "cpu_p95": cpu["p95"]},
        "full_sort": _scratch.spread(sorts),
        "ratio": {
            "median": round(ratios[len(ratios) // 2]),
            "least": round(ratios[0]),
            "most": round(ratios[-1]),
        },
    }


def _sorted(skills, now):
    """The skills by descending score; the database computes and sorts the scores without an index."""
    heat = now.timestamp() * log(2) / scores.HALF_LIFE.total_seconds()
    score = Greatest(Exp(F("hot_key") - heat), F("usage_count") * scores.FLOOR)
    return skills.order_by(score.desc(), "id")


def _by_formula(limit, now):
    """The primary keys of the ``limit`` highest scores, computed in Python from all rows."""
    rows = Skill.objects.values_list("pk", "usage_count", "last_used_at").iterator()
    scored = ((-scores.score(times, last, now), key) for key, times, last in rows)
    return [key for _, key in heapq.nsmallest(limit, scored)]


if __name__ == "__main__":
    main()
