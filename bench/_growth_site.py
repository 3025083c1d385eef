"""A site whose teams, skills and runs grow, with a member, an administrator and one measured skill."""

from __future__ import annotations

import random
from bisect import bisect
from collections import Counter, defaultdict
from datetime import UTC, timedelta
from itertools import accumulate

from django.db import connection, transaction
from django.utils import timezone

from bench._growth_rows import Rows
from bench._pages_site import count_facets, make_manifest, make_skill
from registry.core import search_terms, sql
from registry.index import postings as indexing
from registry.models import (
    AuditEntry,
    Membership,
    Posting,
    Role,
    Skill,
    Tag,
    Team,
    Term,
    TermScope,
    Trigger,
    Use,
    UseDay,
    User,
    Version,
)
from registry.models.identity import new_uid
from tests.factories.runs import make_run
from tests.factories.skills import publish_files, tidy_files
from worker.daily_runs.roll_up import rounded_duration
from worker.models import Approval, DailyRuns, ErrorGroup, FailureCount, Run, SkillRunCounter
from worker.models.daily_runs import TOTAL_KEY

_AT_ONCE = 10_000
_MIN_TEAMS = 20
_SKILLS_OF_A_TEAM = 50
_FILLED_TEAMS = 220  # with ``is_filled``: more than a page of teams and of users
_FILLED_SKILLS = 3_300  # with ``is_filled``: the first skills belong to the member's three teams
_OWN = 33  # one of so many skills belongs to each of the member's three teams
_WORDS = [f"word{number}" for number in range(400)]
_FREQUENCIES = list(accumulate(1 / (rank + 1) for rank in range(len(_WORDS))))  # as words of a language
_WORDS_OF_A_SKILL = 12
_STATUSES = ("succeeded",) * 8 + ("failed", "timed_out")
_BUSY = 10  # one of this many runs belongs to the measured skill
_WAITING = 40  # number of runs that wait for approval, at each size
_MEASURED = 2  # number of runs whose pages are measured
_UNCOUNTED = 200  # number of newest runs that the worker has not counted per day yet, at each size
_DAYS = 60  # age of the oldest run
_RUNS_OF_AN_ERROR = 20
_RUNS_OF_AN_APPROVAL = 100
_POSTING = ("term_id", "skill_id", "weight", "scope", "recommendable_team")
_RUN = (
    "uid", "skill_id", "skill_label", "number", "team_id", "caller_id", "request_id", "status",
    "failure_code", "run_after", "created_at", "started_at", "finished_at", "is_counted",
)  # fmt: skip
_DAY = (
    "skill_id", "day", "team_key", "caller_key", "status", "failure_code", "runs", "durations", "outcomes",
)  # fmt: skip


class Site:
    """A site where each team owns about 50 skills; each of the member's three teams owns 3 % of all.

    With ``is_filled``, each of these three also owns 1,200 of the first skills, so that a small site fills
    the lists that have a limit.
    """

    def __init__(self, *, is_filled=False):
        self.is_filled = is_filled
        self.dice = random.Random(18)
        self.admin = User.objects.create_superuser("administrator", password=None)
        self.member = User.objects.create_user("member", password=None)
        self.teams, self.owners = [], {}  # keys of teams; key of the owner by team
        self._add_teams(self._min_teams)
        for team in self.teams[:3]:
            Membership.objects.create(team_id=team, user=self.member, role=Role.OWNER)
        team = Team.objects.get(pk=self.teams[0])
        publish_files(tidy_files("1.1.0"), team=team, user=self.admin)
        self.version = publish_files(tidy_files("1.2.0"), team=team, user=self.admin)
        for _ in range(_WAITING):
            make_run(self.version, self.member, team, status="waiting_approval", started_at=None)
        for _ in range(_MEASURED):
            make_run(self.version, self.member, team)
        terms = [Term(text=word) for word in [*_WORDS, indexing.DOC_COUNT_TERM]]
        Term.objects.bulk_create(terms, ignore_conflicts=True)
        self.terms = dict(Term.objects.values_list("text", "pk"))
        self.skills = []  # key, label and team of each added skill
        self.runs = 0
        self.busy_days = defaultdict(Counter)

    @property
    def _min_teams(self):
        return _FILLED_TEAMS if self.is_filled else _MIN_TEAMS

    def grow(self, skills, runs):
        """Adds rows until the site has this number of skills and runs."""
        self._add_teams(max(self._min_teams, skills // _SKILLS_OF_A_TEAM))
        while (existing := len(self.skills)) < skills - 1:
            self._add_skills(existing, min(_AT_ONCE, skills - 1 - existing))
        first = self.runs
        while self.runs < runs:
            self._add_runs(min(_AT_ONCE, runs - self.runs), first, runs)
        DailyRuns.objects.filter(skill=self.version.skill).delete()
        _insert_days(self.busy_days)
        if connection.vendor == "postgresql":  # nothing collects statistics on SQLite
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE")  # as autovacuum does within minutes

    @transaction.atomic
    def _add_teams(self, number):
        numbers = range(len(self.teams), number)
        owners = User.objects.bulk_create([User(username=f"owner{n}") for n in numbers])
        teams = Team.objects.bulk_create([Team(slug=f"team{n}", name=f"Team {n}") for n in numbers])
        pairs = zip(teams, owners, strict=True)
        members = [Membership(team=team, user=owner, role=Role.OWNER) for team, owner in pairs]
        Membership.objects.bulk_create(members)
        self.teams += [team.pk for team in teams]
        self.owners |= {team.pk: owner.pk for team, owner in zip(teams, owners, strict=True)}

    @transaction.atomic
    def _add_skills(self, first, number):
        skills = [self._skill(n, timezone.now()) for n in range(first, first + number)]
        varying = (
            "uid", "team_id", "slug", "name", "description", "visibility", "type", "category", "tags",
            "name_key", "search_scope", "usage_count", "last_used_at", "hot_key",
        )  # fmt: skip
        teams = Team.objects.in_bulk()
        last = Skill.objects.latest("pk").pk
        _insert(skills[0], varying, ([getattr(each, name) for name in varying] for each in skills))
        keys = Skill.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)
        for skill, skill.pk in zip(skills, keys, strict=True):
            skill.team = teams[skill.team_id]
            self.skills.append((skill.pk, str(skill), skill.team_id))
        self._add_versions(skills)
        self._index(skills)
        count_facets(skills)
        self._add_uses(skills)

    def _skill(self, number, now):
        own = number % (3 if self.is_filled and number < _FILLED_SKILLS else _OWN)
        team = self.teams[own if own < 3 else number % len(self.teams)]
        words = [
            _WORDS[bisect(_FREQUENCIES, self.dice.random() * _FREQUENCIES[-1])]
            for _ in range(_WORDS_OF_A_SKILL)
        ]
        return make_skill(number, team, words, now)

    def _add_versions(self, skills):
        shared = Version(number="1.0.0", precedence="1", archive_size=9, body="# Text", profile="agentskills")
        manifests = ((each.pk, make_manifest(each, self.version.manifest)) for each in skills)
        rows = ((new_uid(), pk, f"sha256:{pk:064x}", manifest) for pk, manifest in manifests)
        _insert(shared, ("uid", "skill_id", "digest", "manifest"), rows)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE registry_skill SET latest_id = (SELECT MAX(version.id) FROM registry_version version "
                "WHERE version.skill_id = registry_skill.id) WHERE latest_id IS NULL"
            )
        published = AuditEntry(user=self.admin, action="version.publish")
        rows = ((new_uid(), each.team_id, f"{each.slug}@1.0.0") for each in skills[::4])
        _insert(published, ("uid", "team_id", "target"), rows)

    def _index(self, skills):
        postings, triggers, tags = [], [], []
        counts = Counter()
        for skill in skills:
            words = skill.description.split()
            place = (skill.search_scope, skill.team_id)
            for word in set(words):
                key = self.terms[word]
                postings.append((key, skill.pk, 4096 + self.dice.randrange(900), *place))
                counts[key, skill.search_scope] += 1
            counts[self.terms[indexing.DOC_COUNT_TERM], skill.search_scope] += 1
            text = f"make report {skill.pk // 3} of {words[0]} {skill.pk // 7}"
            triggers.append((skill.pk, search_terms.phrase_key(text), text, *place))
            tags += [(skill.pk, tag, skill.search_scope) for tag in set(skill.tags)]
        _insert(Posting(field_mask=4), _POSTING, sorted(postings))
        columns = ("skill_id", "key", "text", "scope", "recommendable_team")
        _insert(Trigger(kind="phrase"), columns, triggers)
        _insert(Tag(), ("skill_id", "text", "scope"), tags)
        added = "ON CONFLICT (term_id, scope) DO UPDATE SET df = registry_termscope.df + EXCLUDED.df"
        rows = [(*key, df) for key, df in counts.items()]
        sql.insert_rows(TermScope, ("term_id", "scope", "df"), rows, on_conflict=added)

    def _add_uses(self, skills):
        now = timezone.now()
        days = ((each.pk, (now - timedelta(days=n)).date()) for each in skills[::10] for n in range(3))
        _insert(UseDay(version="1.0.0", kind="run", count=2), ("skill_id", "day"), days)
        callers = ((self.version.skill_id, each.slug) for each in skills[::20])
        _insert(Use(last_kind="run", count=2, last_counted_at=now), ("skill_id", "caller"), callers)

    @transaction.atomic
    def _add_runs(self, number, first, most):
        counter, _ = SkillRunCounter.objects.get_or_create(
            skill=self.version.skill, defaults={"last_number": 42}
        )
        template = Run(
            version_number="1.2.0", digest=self.version.digest, protocol="script", request={}, attempt=1
        )
        runs = [
            self._run(each, (most - each) / (most - first), most, counter)
            for each in range(self.runs, self.runs + number)
        ]
        last = Run.objects.latest("pk").pk
        _insert(template, _RUN, runs)
        keys = list(Run.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True))
        decided = Approval(expires_at=timezone.now(), decided_at=timezone.now(), decision="approved")
        _insert(decided, ("run_id",), ([key] for key in keys[::_RUNS_OF_AN_APPROVAL]))
        found = [dict(zip(_RUN, each, strict=True)) for each in runs]
        self._count_days([each for each in found if each["is_counted"]])
        self._add_errors([each for each in found if each["failure_code"]][::_RUNS_OF_AN_ERROR])
        counter.save()
        self.runs += number

    def _run(self, number, age, most, counter):
        busy = number % _BUSY == 0
        counter.last_number += busy
        own = (self.version.skill_id, "team0/weekly-report", self.teams[0])
        skill, label, team = own if busy else self.dice.choice(self.skills)
        team = team if number % 3 else self.teams[number % len(self.teams)]
        caller = self.member.pk if number % 20 == 0 else self.owners[team]
        ended = timezone.now() - timedelta(minutes=2, days=age * _DAYS)
        finished = ended + timedelta(seconds=self.dice.expovariate(0.5))
        status = self.dice.choice(_STATUSES)
        return (
            new_uid(), skill, label, counter.last_number if busy else 0, team, caller, f"request-{number}",
            status, "" if status == "succeeded" else f"CODE_{number % 7}", ended, ended, ended, finished,
            number < most - _UNCOUNTED,
        )  # fmt: skip

    def _count_days(self, runs):
        """Adds the rows that ``worker.daily_runs`` would have written; those of the measured skill are kept
        until all its runs are counted.
        """
        days = defaultdict(Counter)
        for run in runs:
            key = (
                run["skill_id"], run["created_at"].astimezone(UTC).date(), run["team_id"], run["caller_id"],
                run["status"], run["failure_code"],
            )  # fmt: skip
            found = self.busy_days if key[0] == self.version.skill_id else days
            found[key][rounded_duration(run["started_at"], run["finished_at"])] += 1
        _insert_days(days)

    def _add_errors(self, runs):
        """Adds a group of failures for each of the runs."""
        now = timezone.now()
        last = getattr(ErrorGroup.objects.order_by("pk").last(), "pk", 0)
        group = ErrorGroup(type="Error", message="No data", count=_RUNS_OF_AN_ERROR, first_seen=now)
        rows = (
            (new_uid(), f"key{run['uid']}", run["skill_id"], run["failure_code"], run["finished_at"])
            for run in runs
        )
        _insert(group, ("uid", "key", "skill_id", "failure_code", "last_seen"), rows)
        keys = ErrorGroup.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)
        count = FailureCount(version_number="1.2.0", count=_RUNS_OF_AN_ERROR, first_seen=now)
        rows = (
            (key, run["team_id"], run["caller_id"], run["finished_at"])
            for key, run in zip(keys, runs, strict=True)
        )
        _insert(count, ("group_id", "team_key", "caller_key", "last_seen"), rows)


def measured_runs():
    """The first runs of the site that do not wait for approval."""
    return Run.objects.exclude(status="waiting_approval").order_by("pk")[:_MEASURED]


def _insert_days(days):
    """Adds the rows; ``days`` has a Counter of durations for each key."""
    template = DailyRuns(version_number="1.2.0")
    totals = defaultdict(Counter)
    outcomes = defaultdict(lambda: defaultdict(Counter))
    for (skill, day, _team, _caller, status, code), durations in days.items():
        total = (skill, day, TOTAL_KEY, TOTAL_KEY, "", "")
        totals[total].update(durations)
        outcomes[total][status][code] += durations.total()
    rows = [(*key, each.total(), each, {}) for key, each in days.items()]
    rows += [(*key, each.total(), each, outcomes[key]) for key, each in totals.items()]
    clash = "skill_id, day, version_number, team_key, caller_key, status, failure_code"
    added = f"ON CONFLICT ({clash}) DO UPDATE SET runs = worker_dailyruns.runs + EXCLUDED.runs"
    _insert(template, _DAY, rows, on_conflict=added)


def _insert(template, varying, rows, *, on_conflict=""):
    inserter = Rows(template, varying, on_conflict=on_conflict)
    for row in rows:
        inserter.add(*row)
    inserter.flush()
