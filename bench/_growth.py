"""Measures every page and endpoint with few and with many skills and runs, in a process with its own site."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gc
import json
import logging
import random
import sys
import time
from collections import defaultdict
from datetime import timedelta

import django

django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.core import search_terms
from registry.identity import audit
from registry.identity.actors import Actor
from registry.index import postings as indexing
from registry.models import (
    Membership,
    Posting,
    Role,
    Skill,
    Tag,
    Team,
    Term,
    TermScope,
    Trigger,
    UseDay,
    User,
    Version,
)
from tests.addresses import filled, routes
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from worker.models import Run, SkillRunCounter

_AT_ONCE = 2_000
_TEAMS = 20
_WORDS = [f"word{number}" for number in range(400)]
_STATUSES = ("succeeded",) * 8 + ("failed", "timed_out")
_BUSY = 10  # one of this many runs belongs to the measured skill
_WAITING = 40  # number of runs that wait for approval, at each size
_OMITTED = ("api/docs/", "api/schema/", "styleguide/", "sign-out/", "account/export/", "api/v1/me/export")


def main():
    options = json.loads(sys.argv[1])
    logging.disable(logging.WARNING)
    settings.ALLOWED_HOSTS = ["*"]
    settings.SKILLQUAY_RATE_LIMITS = dict.fromkeys(settings.SKILLQUAY_RATE_LIMITS, 0)
    call_command("migrate", verbosity=0)
    site = Site()
    measured = []
    for skills, runs in zip(options["skills"], options["runs"], strict=True):
        site.grow(skills, runs)
        print(f"{skills} skills and {runs} runs made", file=sys.stderr, flush=True)
        gc.collect()
        gc.freeze()
        measured.append(_measure(site, options))
    small, large = measured
    rows = [
        {"who": who, "path": path, "small_ms": small[who, path][0], "large_ms": ms, "queries": queries}
        for (who, path), (ms, queries) in large.items()
        if (who, path) in small
    ]
    sizes = f"{options['skills']} skills, {options['runs']} runs"
    print(json.dumps({"database": connection.vendor, "sizes": sizes, "rows": rows}))


def _measure(site, options):
    """CPU milliseconds and query counts by user and path, for each URL that responds with content."""
    found = {}
    for who, client in site.clients().items():
        for path in site.paths():
            if options["only"] in path and (cost := _cost(client, path, options["rounds"])):
                found[who, path] = cost
    return found


def _cost(client, path, rounds):
    if client.get(path).status_code != 200:
        return None
    with CaptureQueriesContext(connection) as queries:
        client.get(path).getvalue()
    return round(min(_timed(client, path) for _ in range(rounds)), 2), len(queries)


def _timed(client, path):
    """CPU milliseconds of this process, which include SQLite; with PostgreSQL, wall time."""
    clock = time.perf_counter if connection.vendor == "postgresql" else time.process_time
    began = clock()
    client.get(path).getvalue()
    return (clock() - began) * 1000


class Site:
    """Teams, a member of three of them, an administrator, and one skill whose pages are measured."""

    def __init__(self):
        self.dice = random.Random(18)
        self.admin = User.objects.create_superuser("administrator", password=None)
        self.member = User.objects.create_user("member", password=None)
        self.teams = [Team.objects.create(slug=f"team{n}", name=f"Team {n}") for n in range(_TEAMS)]
        for team in self.teams[:3]:
            Membership.objects.create(team=team, user=self.member, role=Role.OWNER)
        publish_files(tidy_files("1.1.0"), team=self.teams[0], user=self.admin)
        self.version = publish_files(tidy_files("1.2.0"), team=self.teams[0], user=self.admin)
        for _ in range(_WAITING):
            make_run(self.version, self.member, self.teams[0], status="waiting_approval", started_at=None)
        self.run, self.other = (make_run(self.version, self.member, self.teams[0]) for _ in range(2))
        terms = [Term(text=word) for word in _WORDS]
        Term.objects.bulk_create(terms, ignore_conflicts=True)
        self.terms = dict(Term.objects.filter(text__in=_WORDS).values_list("text", "pk"))

    def clients(self):
        found = {"anonymous": Client(), "member": Client(), "administrator": Client()}
        for name in ("member", "administrator"):
            user = User.objects.get(username=name)
            found[name].force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
        return found

    def paths(self):
        values = defaultdict(lambda: "none")
        values |= {"team": "team0", "slug": "weekly-report", "number": "1.2.0", "path": "SKILL.md"}
        values |= {"before": "1.1.0", "after": "1.2.0", "uid": self.run.uid, "other": self.other.uid}
        values["username"] = "member"
        for route in routes():
            if route not in _OMITTED and not route.startswith(("static/", "hooks/", "-/", "site/sandbox")):
                own = values | ({"slug": "team0"} if route.startswith("teams/") else {})
                yield "/" + filled(route, own)
        yield from (
            "/skills/?q=word7+word9",
            "/skills/?page=2",
            "/skills/?sort=newest",
            "/skills/?team=team0",
            "/api/v1/search?q=word7+word9",
            "/api/v1/match?q=word7+word9",
            "/api/v1/skills?limit=20",
            "/api/v1/skills?limit=20&sort=score",
            "/api/v1/skills?team=team0",
            "/skills/match/test/?q=word7+word9",
            "/find/?q=word7",
            "/runs/?status=failed",
            "/runs/?team=team0",
            "/runs/?skill=team0/weekly-report",
            "/runs/?status=waiting_approval",
            "/api/v1/runs?status=failed",
            "/api/v1/runs?skill=team0/weekly-report",
            "/api/v1/runs?team=team0",
            "/api/v1/approvals?state=decided",
        )

    def grow(self, skills, runs):
        while (existing := Skill.objects.count()) < skills:
            self._add_skills(existing, min(_AT_ONCE, skills - existing))
        for start in range(Run.objects.count(), runs, _AT_ONCE):
            self._add_runs(start, min(_AT_ONCE, runs - start))
        with connection.cursor() as cursor:  # as autovacuum does within minutes
            cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")

    @transaction.atomic
    def _add_skills(self, first, number):
        now = timezone.now()
        skills = [self._skill(n, now) for n in range(first, first + number)]
        Skill.objects.bulk_create(skills)
        versions = [
            Version(
                skill=skill, number="1.0.0", precedence="1", digest=self.version.digest, archive_size=9,
                manifest=self._manifest(skill), body="# Text", profile="agentskills",
            )
            for skill in skills
        ]  # fmt: skip
        Version.objects.bulk_create(versions)
        for skill, version in zip(skills, versions, strict=True):
            skill.latest = version
        Skill.objects.bulk_update(skills, ["latest"], batch_size=500)
        Tag.objects.bulk_create(
            [Tag(skill=each, text=tag, scope=each.search_scope) for each in skills for tag in set(each.tags)]
        )
        self._index(skills)
        days = [
            UseDay(skill=each, version="1.0.0", kind="run", day=now.date() - timedelta(days=n), count=2)
            for each in skills[::10]
            for n in range(3)
        ]
        UseDay.objects.bulk_create(days)
        for skill in skills[::4]:
            audit.record(Actor(user=self.admin), "version.publish", f"{skill}@1.0.0", team=skill.team)

    def _skill(self, number, now):
        team = self.teams[number % _TEAMS]
        words = self.dice.sample(_WORDS, 6)
        used = number % 3
        skill = Skill(
            team=team,
            slug=f"skill-{number}",
            name=f"Skill {number}",
            description=" ".join(words),
            visibility=("public", "site", "private")[number % 7 % 3],
            type=("direct", "static")[number % 2],
            category=f"category {number % 9}",
            profile="agentskills",
            tags=words[:2],
            name_key=search_terms.name_key(f"skill {number}"),
            indexed_as=indexing.INDEX_VERSION,
            usage_count=used,
            last_used_at=now - timedelta(days=number % 60) if used else None,
            hot_key=number % 1000 / 10 if used else 0,
        )
        skill.search_scope = indexing.scope_of(skill)
        return skill

    def _manifest(self, skill):
        words = {"slug": skill.slug, "name": skill.slug, "display_name": skill.name}
        return self.version.manifest | words | {"description": skill.description}

    def _index(self, skills):
        postings, counts, triggers = [], {}, []
        for skill in skills:
            for word in skill.description.split():
                key = self.terms[word]
                postings.append(
                    Posting(
                        term_id=key, skill=skill, weight=4096 + self.dice.randrange(900), field_mask=4,
                        scope=skill.search_scope, recommendable_team=skill.team_id,
                    )
                )  # fmt: skip
                counts[key, skill.search_scope] = counts.get((key, skill.search_scope), 0) + 1
            text = f"make report {skill.pk // 3} of {skill.description.split()[0]} {skill.pk // 7}"
            triggers.append(
                Trigger(
                    skill=skill, kind="phrase", key=search_terms.phrase_key(text), text=text,
                    scope=skill.search_scope, recommendable_team=skill.team_id,
                )
            )  # fmt: skip
        Posting.objects.bulk_create(postings)
        Trigger.objects.bulk_create(triggers, ignore_conflicts=True)
        for (term, scope), number in counts.items():
            row, _ = TermScope.objects.get_or_create(term_id=term, scope=scope)
            TermScope.objects.filter(pk=row.pk).update(df=row.df + number)

    @transaction.atomic
    def _add_runs(self, first, number):
        now = timezone.now()
        pool = list(
            Skill.objects.exclude(pk=self.version.skill_id).select_related("team").order_by("?")[:200]
        )
        counter, _ = SkillRunCounter.objects.get_or_create(
            skill=self.version.skill, defaults={"last_number": 42}
        )
        rows = []
        for each in range(first, first + number):
            busy = each % _BUSY == 0
            counter.last_number += busy
            skill = self.version.skill if busy else self.dice.choice(pool)
            rows.append(self._run(each, skill, counter.last_number if busy else 0, now))
        Run.objects.bulk_create(rows)
        counter.save()

    def _run(self, number, skill, run_number, now):
        ended = now - timedelta(seconds=120 + self.dice.random() * 60 * 86_400)
        status = self.dice.choice(_STATUSES)
        team = skill.team if number % 3 else self.teams[number % _TEAMS]
        return Run(
            skill=skill, skill_label=f"{skill.team.slug}/{skill.slug}", number=run_number,
            version_number="1.2.0", digest=self.version.digest, team=team,
            caller=self.member if number % 20 == 0 else self.admin, protocol="script", request={},
            request_id=f"request-{number}", status=status, attempt=1,
            failure_code="" if status == "succeeded" else f"CODE_{number % 7}",
            run_after=ended, created_at=ended, started_at=ended,
            finished_at=ended + timedelta(seconds=self.dice.expovariate(0.5)),
        )  # fmt: skip


if __name__ == "__main__":
    main()
