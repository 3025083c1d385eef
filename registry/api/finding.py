"""Search, and what has changed since: how agents and mirrors find out what there is."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.actors import Actor
from registry.api import cursors, etags, examples
from registry.api.documents import Doc, SkillDoc, skill_document
from registry.api.endpoint import Endpoint
from registry.api.filtering import FilterQuery, filters_of
from registry.api.shapes import Query, read_query
from registry.facets import MOST_COUNTED, facets, facets_document
from registry.models import Skill
from registry.moments import moment
from registry.packages.problems import refuse
from registry.permissions import Action
from registry.search import document, search

SETTLED = timedelta(seconds=2)  # until then a slower writer may still commit an earlier moment
_BEGINNING = ("1970-01-01T00:00:00+00:00", "")


class SearchQuery(FilterQuery):
    q = serializers.CharField(max_length=500, allow_blank=True)
    limit = serializers.IntegerField(default=20, min_value=1, max_value=cursors.LONGEST_PAGE)
    facets = serializers.BooleanField(
        default=False, help_text="Also count what each filter would leave, the other filters applied."
    )


class ReasonDoc(Doc):
    kind = serializers.CharField()
    field = serializers.CharField()
    text = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    share = serializers.FloatField()


class HitDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    score = serializers.FloatField()
    tier = serializers.CharField()
    reasons = ReasonDoc(many=True)


class FacetDoc(Doc):
    value = serializers.CharField()
    count = serializers.IntegerField()


class SearchDoc(Doc):
    query = serializers.CharField()
    none = serializers.BooleanField()
    results = HitDoc(many=True)
    facets = serializers.DictField(
        child=FacetDoc(many=True), required=False, help_text="With `facets=1`; of the best 1,000 skills."
    )


class Search(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="search_skills",
        summary="Search the skills you may see",
        tags=["skills"],
        parameters=[SearchQuery],
        responses=SearchDoc,
        examples=[examples.answers(examples.SEARCH)],
    )
    def get(self, request: Request) -> HttpResponse:
        """Exact names first, then names, beginnings, tags and text; each hit says which words found it."""
        query = read_query(SearchQuery, request)
        filters = filters_of(query)
        counted = MOST_COUNTED if query["facets"] else 0
        found = search(query["q"], self.actor, limit=query["limit"], filters=filters, counted=counted)
        answer = document(found)
        if query["facets"]:
            answer["facets"] = facets_document(facets(query["q"], filters, self.actor, found=found))
        return etags.document_response(request, answer)


class ChangesQuery(Query):
    since = serializers.CharField(
        required=False, max_length=1000, help_text="`position` of the answer before; without it, everything."
    )
    limit = serializers.IntegerField(default=50, min_value=1, max_value=cursors.LONGEST_PAGE)


class ChangesDoc(Doc):
    items = SkillDoc(many=True)
    position = serializers.CharField(help_text="Where to go on, now or later.")
    more = serializers.BooleanField(help_text="Whether there is more already.")


class Changes(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_changes",
        summary="What has changed since you last asked",
        tags=["skills"],
        parameters=[ChangesQuery],
        responses=ChangesDoc,
        examples=[examples.answers(examples.CHANGES)],
    )
    def get(self, request: Request) -> HttpResponse:
        """Each skill that you may see, once, as it is now, in the order of its last change: versions,
        channels, visibility, name; `gone` says that it was merged or purged. A change is told two seconds
        after it happened, and once."""
        query = read_query(ChangesQuery, request)
        page = cursors.page_of(
            "changes", {"cursor": query.get("since"), "limit": query["limit"]}, kinds=(str, str)
        )
        found = _changed_after(page, self.actor)
        shown = found[: page.limit]
        place = (moment(shown[-1].updated_at), shown[-1].uid) if shown else page.after or _BEGINNING
        answer = {
            "items": [skill_document(skill) for skill in shown],
            "position": page.next_cursor(place),
            "more": len(found) > page.limit,
        }
        return etags.document_response(request, answer)


def _changed_after(page: cursors.Page, actor: Actor) -> list[Skill]:
    rows = Skill.objects.known_to(actor).filter(updated_at__lte=timezone.now() - SETTLED)
    rows = rows.select_related("team", "latest").defer("latest__manifest", "latest__body")
    if page.after:
        at, uid = _moment(page.after[0]), page.after[1]
        rows = rows.filter(Q(updated_at__gt=at) | Q(updated_at=at, uid__gt=uid))
    return list(rows.order_by("updated_at", "uid")[: page.limit + 1])


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise refuse("CURSOR_INVALID", path="since") from None
    if at.tzinfo is None:
        raise refuse("CURSOR_INVALID", path="since")
    return at
