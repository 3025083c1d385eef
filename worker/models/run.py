from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Cast, Length
from django.db.models.lookups import LessThanOrEqual
from django.utils.translation import gettext_lazy as _

from registry.identity.permissions import Action, in_scope
from registry.models import Redirect, Role, Skill, Team, Token
from registry.models.fields import DocumentField
from registry.models.identity import new_uid

if TYPE_CHECKING:
    from registry.identity.actors import Actor

_MAINTAINING = (Role.MAINTAINER, Role.OWNER)
_MAX_SKILLS = 500  # number of skills that a part of a name selects


class RunStatus(models.TextChoices):
    """The state of a run; ``failure_code`` contains the reason. Written only by ``worker.queue``."""

    QUEUED = "queued", _("Queued")
    WAITING_APPROVAL = "waiting_approval", _("Waiting for approval")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Succeeded")
    FAILED = "failed", _("Failed")
    TIMED_OUT = "timed_out", _("Timed out")
    CANCELLED = "cancelled", _("Cancelled")
    LOST = "lost", _("Worker lost")
    REFUSED = "refused", _("Refused")


# Statuses of failures of the skill. A cancelled or refused run says nothing about the skill.
FAILED_STATUSES = (RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.LOST)


def ids_of_skills(name: str) -> list[int]:
    """The ids of the skill ``team/slug``, or of all skills named ``slug``, by current or former names."""
    team, _slash, slug = name.rpartition("/")
    named = Q(slug=slug, team__slug=team) if team else Q(slug=slug)
    skills = Skill.objects.filter(named).values_list("pk", flat=True)
    return list(skills.union(Redirect.objects.filter(named).values_list("to", flat=True)))


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, actor: Actor) -> RunQuerySet:
        """Runs of the actor, of their teams and of their teams' skills; all for administrators.

        A token for one team sees only the runs of that team and of its skills. The actor may not be able to
        read the content: see ``readable_by``.
        """
        if actor.is_administrator:
            return self
        if actor.user is None:
            return self.none()
        teams = actor.team_ids
        own = Q(caller=actor.user)
        if actor.token and actor.token.team_id:
            own &= Q(team_id=actor.token.team_id)
        return self.filter(own | Q(team_id__in=teams) | Q(skill__team_id__in=teams))

    def without_cases(self) -> RunQuerySet:
        """All runs except those of a package's test cases, for statistics and lists of failures.

        A test case can expect a failure.
        """
        return self.filter(case_name="")

    def without_content(self) -> RunQuerySet:
        """Defers the fields ``request`` and ``result``, which can be megabytes, until they are accessed."""
        return self.defer("request", "result")

    def small_values(self, field: str, *, max_characters: int) -> dict[int, Any]:
        """Maps each run's primary key to its value of a JSON field; omits values over ``max_characters``.

        Does not read larger values, because forty results of ten megabytes would need gigabytes.
        """
        sized = self.annotate(size=Length(Cast(field, models.TextField())))
        return dict(sized.filter(size__lte=max_characters).values_list("pk", field))

    def small_contents(self, *more: str, max_characters: int) -> models.QuerySet[Run, Any]:
        """Each run's primary key, request and result, then the fields in ``more``. None for requests and
        results over ``max_characters``, which it does not read.
        """
        small = {
            f"small_{name}": Case(
                When(LessThanOrEqual(Length(Cast(name, models.TextField())), max_characters), then=F(name))
            )
            for name in ("request", "result")
        }
        return self.annotate(**small).values_list("pk", *small, *more)

    def of_skill(self, name: str) -> RunQuerySet:
        """Runs of the skill ``team/slug``, or of all skills named ``slug``, by current or former names. Also
        those of deleted skills.

        The ids of the skills are read first, so that the runs are read from an index. A name of a team has at
        most one skill, so that its runs are also read in their order.
        """
        named = ids_of_skills(name)
        if "/" in name:
            return self.filter(skill=named[0]) if named else self.of_deleted_skills(name)
        return self.filter(skill__in=named) | self.of_deleted_skills(name)

    def of_deleted_skills(self, name: str) -> RunQuerySet:
        """Runs of the deleted skill ``team/slug``, or of all deleted skills named ``slug``."""
        label = Q(skill_label=name) if "/" in name else Q(skill_label__endswith=f"/{name}")
        return self.filter(label, skill=None)

    def of_skills_containing(self, text: str, actor: Actor) -> RunQuerySet:
        """Runs of the skills whose slug is the text, or whose name contains it and whose address works for
        the actor; if there are none, of deleted skills.

        Limited to the most used ``_MAX_SKILLS`` skills. Their ids are read first, so that the runs of a
        single skill are read from an index in their order.
        """
        resolvable = Skill.objects.resolvable_by(actor).name_contains(text).values("pk")
        skills = Skill.objects.filter(Q(slug=text) | Q(pk__in=resolvable)).order_by("-hot_key", "pk")
        found = list(skills.values_list("pk", flat=True)[:_MAX_SKILLS])
        if not found:
            return self.filter(skill=None, skill_label__icontains=text)
        return self.filter(skill=found[0]) if len(found) == 1 else self.filter(skill__in=found)

    def with_label(self, name: str, actor: Actor) -> RunQuerySet:
        """Runs with this label whose content the actor can read."""
        readable = Run.objects.readable_by(actor).filter(labels__name=name.lower())
        return self.filter(pk__in=readable.values("pk"))

    def pinned(self, actor: Actor) -> RunQuerySet:
        """Pinned runs whose content the actor can read."""
        readable = Run.objects.readable_by(actor).filter(pinned_at__isnull=False)
        return self.filter(pinned_at__isnull=False, pk__in=readable.values("pk"))

    def readable_by(self, actor: Actor) -> RunQuerySet:
        """Runs whose content the actor can read: those of ``controlled_by``, and those of their teams that
        permit all members to read runs. The latter need a session or a token that can read runs.
        """
        controlled = self.controlled_by(actor)
        if not in_scope(actor, Action.READ_RUNS) or not actor.shared_run_team_ids:
            return controlled
        return controlled | self.filter(team_id__in=actor.shared_run_team_ids)

    def controlled_by(self, actor: Actor) -> RunQuerySet:
        """Runs that the actor can cancel and erase: as caller, as maintainer or owner of the run's team, or
        as administrator. All of them are readable.

        A token without the scope to read runs controls only runs that its owner started. A token for one team
        controls only runs of that team.
        """
        others = in_scope(actor, Action.READ_RUNS)  # matches no run for a token that can only run skills
        if actor.is_administrator and others:
            return self
        if actor.user is None:
            return self.none()
        maintained = [team for team, role in actor.roles.items() if others and role in _MAINTAINING]
        own = Q(caller=actor.user)
        if actor.token and actor.token.team_id:
            own &= Q(team_id=actor.token.team_id)
        return self.filter(own | Q(team_id__in=maintained))


class Run(models.Model):
    """One call of a skill. The rows are also the queue. A run outlives its skill and keeps the skill's
    label.
    """

    uid = models.CharField(max_length=26, unique=True, default=new_uid, editable=False)
    skill = models.ForeignKey(Skill, models.SET_NULL, null=True, related_name="runs")
    skill_label = models.CharField(max_length=130)  # team/slug
    # Number within the skill, from 1, as in "Run #12"; 0 without a skill.
    number = models.PositiveIntegerField(default=0)
    version_number = models.CharField(max_length=64)
    digest = models.CharField(max_length=71)
    team = models.ForeignKey(Team, models.SET_NULL, null=True, related_name="runs")  # the caller's token
    caller = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="runs")
    # The token that requested the run.
    token = models.ForeignKey(Token, models.SET_NULL, null=True, related_name="+")
    token_name = models.CharField(max_length=120, blank=True)

    protocol = models.CharField(max_length=16)
    entry = models.CharField(max_length=500, blank=True)
    request = DocumentField()  # worker.protocols.call.Request as a document, with file references
    files = DocumentField(default=list)  # worker.files.inputs.InputUse documents
    request_id = models.CharField(max_length=64, db_index=True)  # context.request_id, searchable
    limits = DocumentField(default=dict)
    permission = DocumentField(default=dict)  # {basis, rule, name}: why it may run, from registry.rules

    status = models.CharField(max_length=16, choices=RunStatus.choices, default=RunStatus.QUEUED)
    failure_code = models.CharField(max_length=64, blank=True)
    message = models.TextField(blank=True)
    cause = DocumentField(default=dict)  # worker.protocols.call.Cause; {} unless the run failed
    error_key = models.CharField(max_length=32, blank=True)  # ErrorGroup.key; "" if the run is in no group
    progress = models.PositiveSmallIntegerField(null=True)  # percent
    result = DocumentField(null=True)  # worker.protocols.call.Outcome as a document
    exit_code = models.IntegerField(null=True)
    sandbox = DocumentField(default=dict)  # {tier, enforcement}
    log_bytes = models.PositiveIntegerField(default=0)

    attempt = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=1)
    claim_token = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    dispatched_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    run_after = models.DateTimeField()
    idempotency_key = models.CharField(max_length=200, blank=True)
    # Name of the package's case that the run executes.
    case_name = models.CharField(max_length=100, blank=True)

    cache_key = models.CharField(max_length=64, blank=True)
    cache_ttl = models.PositiveIntegerField(null=True)  # seconds
    cache_until = models.DateTimeField(null=True)
    cached_from = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    rerun_of = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")

    # The run that started this one.
    parent = models.ForeignKey("self", models.SET_NULL, null=True, related_name="children")
    # The run whose budget this one shares.
    root = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    depth = models.PositiveSmallIntegerField(default=0)  # 0 if a person or an agent started the run
    session_id = models.CharField(max_length=64, blank=True)  # ${CLAUDE_SESSION_ID} of a prompt
    grants = DocumentField(default=dict)  # {secrets: {name: grant uid}}

    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # When the content was erased; written by worker.retention.erase.
    erased_at = models.DateTimeField(null=True)
    pinned_at = models.DateTimeField(null=True)  # retention keeps pinned runs; written by worker.annotations
    # Whether DailyRuns counts the run; written by worker.daily_runs.
    is_counted = models.BooleanField(default=False)
    artifacts_removed_at = models.DateTimeField(null=True)  # by retention
    log_removed_at = models.DateTimeField(null=True)  # by retention

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["run_after", "id"], name="run_runnable", condition=Q(status="queued")),
            models.Index(
                fields=["team", "run_after", "id"], name="run_fair_queue", condition=Q(status="queued")
            ),
            models.Index(fields=["lease_until"], name="run_leases", condition=Q(status="running")),
            models.Index(fields=["team"], name="run_running", condition=Q(status="running", depth=0)),
            models.Index(fields=["cache_key", "-cache_until"], name="run_cache", condition=~Q(cache_key="")),
            models.Index(fields=["team", "-id"], name="run_team"),
            models.Index(fields=["caller", "-id"], name="run_caller"),
            models.Index(fields=["skill", "-id"], name="run_skill"),
            models.Index(fields=["error_key", "-id"], name="run_error_group", condition=~Q(error_key="")),
            models.Index(fields=["finished_at"], name="run_finished", condition=Q(finished_at__isnull=False)),
            models.Index(fields=["status", "-id"], name="run_status"),
            models.Index(  # smaller than the index of the foreign key, and chosen even if few runs have one
                fields=["parent", "id"], name="run_children", condition=Q(parent__isnull=False)
            ),
            models.Index(fields=["-id"], name="run_pinned", condition=Q(pinned_at__isnull=False)),
            models.Index(fields=["number", "-id"], name="run_number", condition=Q(number__gt=0)),
            models.Index(
                fields=["id"], name="run_uncounted", condition=Q(is_counted=False, finished_at__isnull=False)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["caller", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="one_run_per_idempotency_key",
            ),
            models.UniqueConstraint(
                fields=["skill", "number"], condition=Q(number__gt=0), name="one_run_per_number"
            ),
        ]

    def __str__(self) -> str:
        return self.uid

    @property
    def duration_ms(self) -> float | None:
        """The duration of the last attempt in milliseconds; None if the run has not started or not ended."""
        if self.started_at is None or self.finished_at is None:
            return None
        return round((self.finished_at - self.started_at).total_seconds() * 1000, 3)


class SkillRunCounter(models.Model):
    """The number of the skill's newest run; ``worker.queue`` is the only writer."""

    skill = models.OneToOneField(Skill, models.CASCADE, primary_key=True, related_name="+")
    last_number = models.PositiveIntegerField()
