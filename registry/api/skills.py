"""Skills: the list with its filters, one skill, its visibility, its usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, publishing, usage
from registry.actors import Actor
from registry.api import cursors, etags, examples
from registry.api.documents import (
    Doc,
    SkillDetailDoc,
    SkillDoc,
    page_document,
    page_shape,
    skill_detail,
    skill_document,
)
from registry.api.endpoint import Endpoint
from registry.api.filtering import FilterQuery, filters_of
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictText, read_body, read_query
from registry.models import Skill, UseKind, Visibility
from registry.moments import moment
from registry.permissions import Action
from registry.search import search

MOST_IDS = 100
MOST_FOUND = 1000  # of a search: who needs more needs other words


class SkillsQuery(PageQuery, FilterQuery):
    q = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="Only what search finds, best first, at most 1,000.",
    )
    ids = serializers.CharField(
        required=False, max_length=4000, help_text="At most 100 ids or team/slug, separated by commas."
    )

    def validate_ids(self, value: str) -> str:
        if len(value.split(",")) > MOST_IDS:
            raise serializers.ValidationError(f"at most {MOST_IDS}")
        return value


class SkillChange(Shape):
    visibility = serializers.ChoiceField(choices=Visibility.choices)


class Skills(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_skills",
        summary="List the skills you may see",
        tags=["skills"],
        parameters=[SkillsQuery],
        responses=page_shape(SkillDoc),
        examples=[examples.answers(examples.page(examples.SKILL))],
    )
    def get(self, request: Request) -> HttpResponse:
        """The highest score of use first, as it was at the first page; with `q`, the best match first.
        `ids` reads many at once."""
        query = read_query(SkillsQuery, request)
        skills, cursor = self._found(query) if query.get("q") else self._listed(query)
        return etags.document_response(
            request, page_document([skill_document(skill) for skill in skills], cursor)
        )

    def _listed(self, query: dict[str, Any]) -> tuple[list[Skill], str | None]:
        visible: QuerySet[Skill] = Skill.objects.offered_to(self.actor).select_related("team", "latest")
        visible = visible.defer("latest__manifest", "latest__body")
        if "ids" in query:
            visible = _named(visible, query["ids"].split(","))
        page = cursors.page_of("skills", query, kinds=(float, float, int, int, int))
        place = usage.Place(*page.after) if page.after else usage.Place(timezone.now().timestamp())
        found, after = usage.in_order(filters_of(query).narrow(visible), page.limit, place)
        return found, page.next_cursor(astuple(after)) if after else None

    def _found(self, query: dict[str, Any]) -> tuple[list[Skill], str | None]:
        """A place is how many came before and the last of them, behind which it goes on wherever it is."""
        page = cursors.page_of("skills", query, kinds=(int, int))
        start, last = page.after or (0, 0)
        start = min(max(start, 0), MOST_FOUND)
        most = min(start + 2 * page.limit, MOST_FOUND) + 1  # what was published meanwhile may stand before
        found = search(query["q"], self.actor, limit=most, filters=filters_of(query)).hits
        start = next((at for at, hit in enumerate(found, 1) if hit.skill.pk == last), start)
        end = min(start + page.limit, MOST_FOUND)
        chosen = [hit.skill for hit in found[start:end]]
        cursor = page.next_cursor([end, chosen[-1].pk]) if len(found) > end < MOST_FOUND else None
        if "ids" in query:
            wanted = set(query["ids"].split(","))
            chosen = [skill for skill in chosen if {skill.uid, str(skill)} & wanted]
        return chosen, cursor


class SkillDetail(Endpoint):
    needs = {"GET": (Action.SEE,), "PATCH": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="get_skill",
        summary="Read one skill",
        tags=["skills"],
        responses=SkillDetailDoc,
        examples=[examples.answers(examples.SKILL_DETAIL)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """A skill that you may not see answers exactly like one that is not there. An old address answers
        with what it leads to: `skill` and `url` tell the present one."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return etags.document_response(request, skill_detail(skill, self.actor))

    @extend_schema(
        operation_id="change_skill",
        summary="Change who may see a skill",
        tags=["skills"],
        request=SkillChange,
        responses=SkillDetailDoc,
        examples=[examples.asks({"visibility": "site"}), examples.answers(examples.SKILL_DETAIL)],
    )
    def patch(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For maintainers. With `If-Match: <ETag>` only while nobody else has changed it."""
        change = read_body(SkillChange, request.data)
        with transaction.atomic():
            skill = catalog.find_skill(f"{team}/{slug}", self.actor)
            Skill.objects.select_for_update().get(pk=skill.pk)
            etags.require_match(request, skill_detail(skill, self.actor))
            publishing.set_visibility(skill, change["visibility"], self.actor)
        return etags.document_response(request, skill_detail(skill, self.actor))


class UsageDoc(Doc):
    skill = serializers.CharField()
    count = serializers.IntegerField(help_text="Uses; those of one caller within 60 s count once.")
    last_used_at = serializers.DateTimeField(allow_null=True)
    score = serializers.FloatField(help_text="count × max(0.5^(days since the last use / 7), 0.1).")


class UseKindsDoc(Doc):
    load = serializers.IntegerField()
    install = serializers.IntegerField()
    run = serializers.IntegerField()


class UsageDayDoc(UseKindsDoc):
    day = serializers.DateField(help_text="In UTC.")


class UsageVersionDoc(UseKindsDoc):
    version = serializers.CharField()


class UsageDetailDoc(UsageDoc):
    days = serializers.FloatField(help_text="Since the last use.")
    factor = serializers.FloatField(help_text="0.5^(days / half_life_days), at least the floor.")
    half_life_days = serializers.FloatField()
    floor = serializers.FloatField()
    hold_seconds = serializers.FloatField(help_text="In which uses of one caller count once.")
    kinds = UseKindsDoc(help_text="Of all uses; a use within the hold counts as the kind that came first.")
    by_version = UsageVersionDoc(many=True, help_text="Of the versions that were used, the highest first.")
    by_day = UsageDayDoc(many=True, help_text="Of the last 90 days those with a use, the oldest first.")


class SkillUsage(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="get_usage",
        summary="How much a skill is used",
        tags=["usage"],
        responses=UsageDetailDoc,
        examples=[examples.answers(examples.USAGE_DETAIL)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """The score is what orders catalog and ties; it halves every seven days without use."""
        skill = catalog.find_skill(f"{team}/{slug}", self.actor)
        return etags.document_response(request, usage_detail(skill, self.actor))


class UseReport(Shape):
    skill = StrictText(max_length=130, help_text="`team/slug`.")
    kind = serializers.ChoiceField(
        choices=[UseKind.LOAD.value, UseKind.INSTALL.value], default=UseKind.LOAD.value
    )


class UseReported(UsageDoc):
    counted = serializers.BooleanField(help_text="False within 60 s of your last use of it.")


class Uses(Endpoint):
    needs = {"POST": (Action.SEE,)}

    @extend_schema(
        operation_id="report_use",
        summary="Say that you used a skill",
        tags=["usage"],
        request=UseReport,
        responses=UseReported,
        examples=[
            examples.asks({"skill": "docs/summarise", "kind": "load"}),
            examples.answers({**examples.USAGE, "counted": True}),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """For agents that load skills by themselves; downloads and runs are counted without this."""
        report = read_body(UseReport, request.data)

        def act() -> HttpResponse:
            skill = catalog.find_skill(report["skill"], self.actor)
            counted = usage.record_use(skill, self.actor.caller, report["kind"])
            skill.refresh_from_db(fields=["usage_count", "last_used_at"])
            return etags.document_response(request, {**usage_document(skill), "counted": counted})

        return once(request, report, act)


def usage_document(skill: Skill) -> dict[str, Any]:
    return {
        "skill": str(skill),
        "count": skill.usage_count,
        "last_used_at": moment(skill.last_used_at),
        "score": round(usage.score(skill.usage_count, skill.last_used_at, timezone.now()), 3),
    }


def usage_detail(skill: Skill, actor: Actor) -> dict[str, Any]:
    """How the score came about, and the uses that it is made of."""
    score, counts = usage.explained(skill), usage.by_version(skill)
    numbers = skill.versions.visible_to(actor).order_by("-precedence").values_list("number", flat=True)
    return {
        **usage_document(skill),
        "days": round(score.days, 3),
        "factor": round(score.factor, 6),
        "half_life_days": usage.HALF_LIFE.days,
        "floor": usage.FLOOR,
        "hold_seconds": usage.HOLD.seconds,
        "kinds": _kinds(usage.by_kind(skill)),
        "by_version": [
            {"version": number, **_kinds(counts[number])} for number in numbers if number in counts
        ],
        "by_day": [
            {"day": day.day.isoformat(), **_kinds(day.counts)} for day in usage.by_day(skill) if day.total
        ],
    }


def _kinds(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind.value: counts.get(kind, 0) for kind in UseKind}


def _named(skills: QuerySet[Skill], names: list[str]) -> QuerySet[Skill]:
    labels = [name.split("/", 1) for name in names if "/" in name]
    wanted = Q(uid__in=[name for name in names if "/" not in name])
    for team, slug in labels:
        wanted |= Q(team__slug=team, slug=slug)
    return skills.filter(wanted)
