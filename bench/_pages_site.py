"""Creates the skills and runs of the site of ``bench pages`` through models."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from registry.core import search_terms
from registry.identity import audit
from registry.identity.actors import Actor
from registry.index import facet_counts
from registry.index import postings as indexing
from registry.models import CountedSkill, Posting, Skill, Tag, TermScope, Trigger, UseDay, Version
from worker.models import Run, SkillRunCounter

_AT_ONCE = 2_000
TEAMS = 20
WORDS = [f"word{number}" for number in range(400)]
_STATUSES = ("succeeded",) * 8 + ("failed", "timed_out")
_BUSY = 10  # one of this many runs belongs to the measured skill


def make_skill(number, team, words, now):
    """An unsaved skill of the team with this id. Its number determines all but the words of its text."""
    used = number % 3
    skill = Skill(
        team_id=team,
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
        hot_key=(1 + number % 1000) / 10 if used else 0,
    )
    skill.search_scope = indexing.scope_of(skill)
    return skill


def make_manifest(skill, sample):
    """The manifest of the skill's version; ``sample`` has the other values."""
    words = {"slug": skill.slug, "name": skill.slug, "display_name": skill.name}
    return sample | words | {"description": skill.description}


def count_facets(skills):
    """Counts the facets of new skills, as the index does. ``team`` of each skill must be loaded."""
    states = [(each.pk, facet_counts.state_of(each, "en")) for each in skills]
    CountedSkill.objects.bulk_create(facet_counts.counted_as(*each) for each in states)
    facet_counts.add_counts((state, 1) for _, state in states)


class Site:
    """Teams, skills and runs, created through models. Subclasses create the teams and the measured skill."""

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
                manifest=make_manifest(skill, self.version.manifest), body="# Text", profile="agentskills",
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
        count_facets(skills)
        days = [
            UseDay(skill=each, version="1.0.0", kind="run", day=now.date() - timedelta(days=n), count=2)
            for each in skills[::10]
            for n in range(3)
        ]
        UseDay.objects.bulk_create(days)
        for skill in skills[::4]:
            audit.record(Actor(user=self.admin), "version.publish", f"{skill}@1.0.0", team=skill.team)

    def _skill(self, number, now):
        team = self.teams[number % TEAMS]
        skill = make_skill(number, team.pk, self.dice.sample(WORDS, 6), now)
        skill.team = team  # spares queries
        return skill

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
        team = skill.team if number % 3 else self.teams[number % TEAMS]
        return Run(
            skill=skill, skill_label=f"{skill.team.slug}/{skill.slug}", number=run_number,
            version_number="1.2.0", digest=self.version.digest, team=team,
            caller=self.member if number % 20 == 0 else self.admin, protocol="script", request={},
            request_id=f"request-{number}", status=status, attempt=1,
            failure_code="" if status == "succeeded" else f"CODE_{number % 7}",
            run_after=ended, created_at=ended, started_at=ended,
            finished_at=ended + timedelta(seconds=self.dice.expovariate(0.5)),
        )  # fmt: skip
