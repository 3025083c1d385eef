"""Endpoints that list and show skills, set their visibility, and count and show their use."""

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents import skills as documents
from registry.api.documents.listed_skills import listed_documents
from registry.api.documents.skill_filters import FilterQuery, filters_of
from registry.api.endpoint import Endpoint, SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.changes import drafts
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.lookup import skills as catalog
from registry.models import Skill, UseKind, Visibility
from registry.rates.limits import RateLimit
from registry.search.query import Filters, search
from registry.usage import recording, scores
from registry.usage.activations import activations_by_trigger
from registry.versions.lifecycle import settings

operation = Operations("skills")
MAX_IDS = 100
MAX_SEARCH_RESULTS = 1000  # hits per search


class SkillsQuery(PageQuery, FilterQuery):
    q = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="A search query. At most 1,000 hits are returned, best first.",
    )
    ids = serializers.CharField(
        required=False, max_length=4000, help_text="Up to 100 ids or team/slug labels, separated by commas."
    )

    def validate_ids(self, value: str) -> str:
        if len(value.split(",")) > MAX_IDS:
            raise serializers.ValidationError(f"at most {MAX_IDS}")
        return value


class SkillChangeRequest(Shape):
    visibility = serializers.ChoiceField(choices=Visibility.choices)


class Skills(Endpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    @operation(
        "list_skills", "List skills", query=SkillsQuery, answer=documents.page_schema(documents.SkillDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists the skills that you can see, highest usage score first. All pages use the scores at the time
        of the first request. With `q`, the best match comes first. `ids` selects particular skills. Tokens
        do not get skills with `disable-model-invocation`.
        """
        query = read_query(SkillsQuery, request)
        if query.get("q"):
            drafts.discard()  # the search index changes no number
            self.count(RateLimit.SEARCH)
            skills, cursor = self._search(query)
            found = [documents.skill_document(skill) for skill in skills]
            return etag.document_response(request, documents.page_document(found, cursor))
        return etag.renewable_response(request, lambda actor: _list(query, actor))

    def _search(self, query: dict[str, Any]) -> tuple[list[Skill], str | None]:
        """A page of search hits, and the cursor of the next page or None. The cursor contains the number of
        earlier hits and the last of them. A page starts after that hit, at the hit's current rank.
        """
        page = pagination.read_page("skills", query, kinds=(int, int))
        start, last = page.after or (0, 0)
        start = min(max(start, 0), MAX_SEARCH_RESULTS)
        limit = min(start + 2 * page.limit, MAX_SEARCH_RESULTS) + 1  # new hits may now rank before the cursor
        hits = search(query["q"], self.actor, limit=limit, filters=filters_of(query, self.actor)).hits
        start = next((at for at, hit in enumerate(hits, 1) if hit.skill.pk == last), start)
        end = min(start + page.limit, MAX_SEARCH_RESULTS)
        page_skills = [hit.skill for hit in hits[start:end]]
        cursor = page.next_cursor([end, page_skills[-1].pk]) if len(hits) > end < MAX_SEARCH_RESULTS else None
        if "ids" in query:
            wanted = set(query["ids"].split(","))
            page_skills = [skill for skill in page_skills if {skill.uid, str(skill)} & wanted]
        return page_skills, cursor


def _list(query: dict[str, Any], actor: Actor) -> dict[str, Any]:
    drafts.depend_on_catalog()
    drafts.depend_on_uses()
    page = pagination.read_page("skills", query, kinds=(float, float, int, int, int))
    position = scores.ScorePosition(*page.after) if page.after else scores.first_position(timezone.now())
    filters = filters_of(query, actor)
    if "ids" in query or filters != Filters(for_agents=filters.for_agents):
        visible: QuerySet[Skill] = Skill.objects.discoverable_by(actor)
        if "ids" in query:
            visible = _filter_by_ids(visible, query["ids"].split(","))
        keys, next_position = scores.keys_by_score(filters.narrow(visible), page.limit, position)
    else:
        keys, next_position = scores.keys_of_discoverable(
            actor, page.limit, position, for_agents=filters.for_agents
        )
    cursor = page.next_cursor(astuple(next_position)) if next_position else None
    return documents.page_document(listed_documents(keys), cursor)


class SkillDetail(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,), "PATCH": (Action.SETTINGS,)}

    @operation("get_skill", "Get a skill", answer=documents.SkillDetailDoc)
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Returns the skill with its channels. Returns 404 if the skill does not exist or is not
        visible to you. For an old address, returns the skill that it redirects to; `skill` and `url`
        contain the current address.
        """
        label = f"{team}/{slug}"
        return etag.renewable_response(
            request, lambda actor: documents.skill_detail(catalog.find_skill(label, actor), actor)
        )

    @operation(
        "update_skill",
        "Update a skill's visibility",
        body=SkillChangeRequest,
        answer=documents.SkillDetailDoc,
    )
    def patch(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Changes the skill's visibility. Send `If-Match: <ETag>` to change the skill only if it has not
        changed since you read it. Requires the maintainer role or administrator rights.
        """
        change = read_body(SkillChangeRequest, request.data)
        with transaction.atomic():
            skill = self.skill(team, slug)
            Skill.objects.select_for_update().get(pk=skill.pk)
            etag.require_match(request, documents.skill_detail(skill, self.actor))
            settings.set_visibility(skill, change["visibility"], self.actor)
        return etag.document_response(request, documents.skill_detail(skill, self.actor))


class UsageDoc(documents.Doc):
    skill = serializers.CharField()
    count = serializers.IntegerField(
        help_text="The number of uses. Uses by one caller within 60 s count once."
    )
    last_used_at = serializers.DateTimeField(allow_null=True)
    score = serializers.FloatField(help_text="count × max(0.5^(days since the last use / 7), 0.1).")


class UseKindsDoc(documents.Doc):
    load = serializers.IntegerField()
    install = serializers.IntegerField()
    run = serializers.IntegerField()
    activation = serializers.IntegerField(help_text="Uses that agents reported with OpenTelemetry.")


class ActivationTriggersDoc(documents.Doc):
    typed = serializers.IntegerField(help_text="A person typed the skill's name.")
    chosen = serializers.IntegerField(help_text="The model chose the skill.")
    nested = serializers.IntegerField(help_text="Another skill used it.")


class UsageDayDoc(UseKindsDoc):
    day = serializers.DateField(help_text="The day in UTC.")


class UsageVersionDoc(UseKindsDoc):
    version = serializers.CharField()


class UsageDetailDoc(UsageDoc):
    days = serializers.FloatField(help_text="The number of days since the last use.")
    factor = serializers.FloatField(help_text="0.5^(days / half_life_days), at least `floor`.")
    half_life_days = serializers.FloatField()
    floor = serializers.FloatField()
    dedupe_window_seconds = serializers.FloatField(
        help_text="The period in seconds within which uses by one caller count once."
    )
    kinds = UseKindsDoc(
        help_text="Uses by kind. Several uses that count once have the kind of the first one."
    )
    by_version = UsageVersionDoc(many=True, help_text="Uses by version, highest version first.")
    activations = ActivationTriggersDoc(help_text="All reported activations, also repeated ones.")
    by_day = UsageDayDoc(many=True, help_text="Days with uses within the last 90 days, oldest first.")


class SkillUsage(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("get_usage", "Get a skill's usage", tag="usage", answer=UsageDetailDoc)
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Returns the skill's use counts, and the score that orders the catalog. Without use, the score
        halves every seven days, down to 10 % of the count.
        """
        skill = self.skill(team, slug)
        return etag.document_response(request, usage_detail(skill, self.actor))


class UsageReportRequest(Shape):
    skill = StrictText(max_length=130, help_text="`team/slug`.")
    kind = serializers.ChoiceField(
        choices=[UseKind.LOAD.value, UseKind.INSTALL.value], default=UseKind.LOAD.value
    )


class UsageReportedDoc(UsageDoc):
    counted = serializers.BooleanField(
        help_text="Whether the use counted; false within 60 s of your last use."
    )


class Uses(Endpoint):
    required_actions = {"POST": (Action.SEE,)}

    @operation(
        "report_use", "Report a use of a skill", tag="usage", body=UsageReportRequest, answer=UsageReportedDoc
    )
    @idempotent(UsageReportRequest)
    def post(self, request: Request) -> HttpResponse:
        """Counts a use of the skill, unless you already used it within the last 60 s. Send this request if an
        agent loads the skill from its own copy. Downloads and runs on this site are counted automatically.
        """
        report = read_body(UsageReportRequest, request.data)
        skill = catalog.find_skill(report["skill"], self.actor)
        counted = recording.record_use(skill, self.actor.caller, report["kind"])
        skill.refresh_from_db(fields=["usage_count", "last_used_at"])
        return etag.document_response(request, {**usage_document(skill), "counted": counted})


def usage_document(skill: Skill) -> dict[str, Any]:
    return {
        "skill": str(skill),
        "count": skill.usage_count,
        "last_used_at": rfc3339(skill.last_used_at),
        "score": round(scores.score(skill.usage_count, skill.last_used_at, timezone.now()), 3),
    }


def usage_detail(skill: Skill, actor: Actor) -> dict[str, Any]:
    """The usage of a skill as a JSON object: the score with its factors, and uses by kind, by day, and by
    version. Versions that the actor may not see are omitted.
    """
    score, counts = scores.explain_score(skill), scores.uses_by_version(skill)
    numbers = skill.versions.visible_to(actor).order_by("-precedence").values_list("number", flat=True)
    return {
        **usage_document(skill),
        "days": round(score.days, 3),
        "factor": round(score.factor, 6),
        "half_life_days": scores.HALF_LIFE.days,
        "floor": scores.FLOOR,
        "dedupe_window_seconds": recording.DEDUPE_WINDOW.seconds,
        "kinds": _kinds(scores.uses_by_kind(skill)),
        "by_version": [
            {"version": number, **_kinds(counts[number])} for number in numbers if number in counts
        ],
        "activations": activations_by_trigger(skill),
        "by_day": [
            {"day": day.day.isoformat(), **_kinds(day.counts)}
            for day in scores.uses_by_day(skill)
            if day.total
        ],
    }


def _kinds(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind.value: counts.get(kind, 0) for kind in UseKind}


def _filter_by_ids(skills: QuerySet[Skill], names: list[str]) -> QuerySet[Skill]:
    labels = [name.split("/", 1) for name in names if "/" in name]
    wanted = Q(uid__in=[name for name in names if "/" not in name])
    for team, slug in labels:
        wanted |= Q(team__slug=team, slug=slug)
    return skills.filter(wanted)
