"""Endpoints that search skills, and list changed skills for agents and mirrors."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.results import SearchHitDoc
from registry.api.documents.skill_filters import FilterQuery, filters_of
from registry.api.documents.skills import Doc, SkillDoc, skill_document
from registry.api.endpoint import Endpoint
from registry.api.errors import CURSOR_INVALID
from registry.api.schema import Operations, Query, read_query
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.identity.permissions import Action
from registry.models import Skill
from registry.rates.limits import RateLimit
from registry.search.facets import MAX_COUNTED_SKILLS, facets, facets_document
from registry.search.query import search, search_document

operation = Operations("skills")
SETTLE_TIME = timedelta(seconds=2)  # a slow writer may still commit a change with an earlier time
_FIRST_POSITION = ("1970-01-01T00:00:00+00:00", "")


class SearchQuery(FilterQuery):
    q = serializers.CharField(max_length=500, allow_blank=True)
    limit = serializers.IntegerField(default=20, min_value=1, max_value=pagination.MAX_PAGE_SIZE)
    facets = serializers.BooleanField(
        default=False,
        help_text="Also count the results for each value of each filter, with the other filters applied.",
    )


class FacetDoc(Doc):
    value = serializers.CharField()
    count = serializers.IntegerField()


class SearchDoc(Doc):
    query = serializers.CharField()
    none = serializers.BooleanField()
    results = SearchHitDoc(many=True)
    facets = serializers.DictField(
        child=FacetDoc(many=True),
        required=False,
        help_text="Present with `facets=1`. The counts cover the best 1,000 skills; with an empty "
        "`q`, all skills.",
    )


class Search(Endpoint):
    required_actions = {"GET": (Action.SEE,)}
    rate_limits = {"GET": RateLimit.SEARCH}

    @operation("search_skills", "Search skills", query=SearchQuery, answer=SearchDoc)
    def get(self, request: Request) -> HttpResponse:
        """Searches the skills that you can see. Exact names come first, then names, prefixes of names, tags
        and text that match. Each hit lists the words that matched. Tokens do not find skills with
        `disable-model-invocation`.
        """
        query = read_query(SearchQuery, request)
        filters = filters_of(query, self.actor)
        counted = MAX_COUNTED_SKILLS if query["facets"] else 0
        found = search(query["q"], self.actor, limit=query["limit"], filters=filters, counted=counted)
        answer = search_document(found)
        if query["facets"]:
            answer["facets"] = facets_document(facets(query["q"], filters, self.actor, found=found))
        return etag.document_response(request, answer)


class ChangesQuery(Query):
    since = serializers.CharField(
        required=False,
        max_length=1000,
        help_text="`next_since` of the previous response. Without it, all skills are returned.",
    )
    limit = serializers.IntegerField(default=50, min_value=1, max_value=pagination.MAX_PAGE_SIZE)


class ChangesDoc(Doc):
    items = SkillDoc(many=True)
    next_since = serializers.CharField(help_text="Value of `since` for the next request.")
    has_more = serializers.BooleanField(help_text="Whether more changes are available now.")


class Changes(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_changes", "List changed skills", query=ChangesQuery, answer=ChangesDoc)
    def get(self, request: Request) -> HttpResponse:
        """Returns the current state of each skill that you can see, ordered by the last change of its
        versions, channels, visibility or name. `removed_as` marks merged and purged skills. Tokens do not
        get skills that only people can use. A change appears two seconds after it was made.
        """
        query = read_query(ChangesQuery, request)
        page = pagination.read_page(
            "changes", {"cursor": query.get("since"), "limit": query["limit"]}, kinds=(str, str)
        )
        found = _changes_after(page, self.actor)
        shown = found[: page.limit]
        place = (rfc3339(shown[-1].updated_at), shown[-1].uid) if shown else page.after or _FIRST_POSITION
        answer = {
            "items": [skill_document(skill) for skill in shown],
            "next_since": page.next_cursor(place),
            "has_more": len(found) > page.limit,
        }
        return etag.document_response(request, answer)


def _changes_after(page: pagination.Page, actor: Actor) -> list[Skill]:
    rows = Skill.objects.resolvable_by(actor).filter(updated_at__lte=timezone.now() - SETTLE_TIME)
    if actor.token:
        rows = rows.filter(for_agents=True)
    rows = rows.select_related("team", "latest").defer("latest__manifest", "latest__body")
    if page.after:
        at, uid = _parse_time(page.after[0]), page.after[1]
        rows = rows.filter(Q(updated_at__gt=at) | Q(updated_at=at, uid__gt=uid))
    return list(rows.order_by("updated_at", "uid")[: page.limit + 1])


def _parse_time(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CURSOR_INVALID.refusal().at("since") from None
    if at.tzinfo is None:
        raise CURSOR_INVALID.refusal().at("since")
    return at
