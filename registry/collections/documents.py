"""Builds the JSON objects of collections, and declares their serializers."""

from typing import Any
from urllib.parse import quote

from rest_framework import serializers

from registry.api.documents.skills import Doc, api_url
from registry.api.schema import PageQuery, Query, Shape, StrictText
from registry.collections.edit import ChosenSkill
from registry.collections.members import Member, members
from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from registry.listing.list_skills import CONTEXT_TOKENS
from registry.models import Collection, Visibility

_SELECTOR = "A version number, which pins the skill, or a channel. Leave it out for the latest version."


class CollectionSkillRequest(Shape):
    skill = StrictText(max_length=130, help_text="The skill, as `team/slug`; you must be able to see it.")
    version = StrictText(max_length=64, required=False, allow_blank=True, help_text=_SELECTOR)


class _Fields(Shape):
    title = StrictText(max_length=120, required=False, help_text="The display name; default: the slug.")
    description = StrictText(max_length=1000, required=False, allow_blank=True)
    visibility = serializers.ChoiceField(
        choices=Visibility.choices,
        required=False,
        help_text="Who can see the collection; default: `private`.",
    )
    skills = CollectionSkillRequest(
        many=True,
        required=False,
        help_text="The skills in order. In a change, this list replaces the current skills.",
    )


class CollectionRequest(_Fields):
    team = StrictText(max_length=64)
    slug = StrictText(
        max_length=64, help_text="The last part of the collection's address; `all` and `new` are reserved."
    )


class CollectionChange(_Fields):
    pass


class CollectionsQuery(PageQuery):
    team = serializers.CharField(required=False, max_length=64, help_text="A team's slug.")


class PromptQuery(Query):
    context_tokens = serializers.IntegerField(
        default=CONTEXT_TOKENS,
        min_value=0,
        max_value=100_000_000,
        help_text="The size of the agent's context window, in tokens.",
    )


class CollectionSummaryDoc(Doc):
    collection = serializers.CharField(help_text="`team/slug`.")
    team = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    visibility = serializers.ChoiceField(
        choices=Visibility.choices,
        allow_null=True,
        help_text="Who can see the collection; null for the computed collection `all`.",
    )
    updated_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()
    page_url = serializers.URLField(
        help_text="The URL of the collection's page; `npx skills add` also accepts this URL."
    )


class CollectionSkillDoc(Doc):
    skill = serializers.CharField()
    selector = serializers.CharField(help_text="The pinned number or the channel; empty for the latest.")
    pinned = serializers.BooleanField()
    version = serializers.CharField(
        allow_null=True, help_text="The version that clients get now; null if the skill is unavailable."
    )
    digest = serializers.CharField(allow_null=True)


class CollectionDetailDoc(CollectionSummaryDoc):
    skills = CollectionSkillDoc(many=True, help_text="The skills that you can see, in order.")
    index_url = serializers.URLField()
    marketplace_url = serializers.URLField()
    git_url = serializers.URLField()
    prompt_url = serializers.URLField()


def collection_summary(collection: Collection) -> dict[str, Any]:
    stored = collection.pk is not None
    return {
        "collection": str(collection),
        "team": collection.team.slug,
        "slug": collection.slug,
        "title": collection.title,
        "description": collection.description,
        "visibility": collection.visibility if stored else None,
        "updated_at": rfc3339(collection.updated_at) if stored else None,
        "url": api_url("collections", str(collection)),
        "page_url": f"{public_url(collection)}/",
    }


def collection_detail(collection: Collection, actor: Actor) -> dict[str, Any]:
    base = public_url(collection)
    return {
        **collection_summary(collection),
        "skills": [_skill(member) for member in members(collection, actor)],
        "index_url": f"{base}/.well-known/agent-skills/index.json",
        "marketplace_url": f"{base}/marketplace.json",
        "git_url": f"{base}.git",
        "prompt_url": f"{api_url('collections', str(collection))}/prompt",
    }


def public_url(collection: Collection) -> str:
    """The address below which clients find the collection, without a trailing slash."""
    return absolute_url(f"collections/{quote(str(collection))}")


def read_skills(body: dict[str, Any]) -> list[ChosenSkill] | None:
    """The skills in a validated body; None if it has none."""
    if "skills" not in body:
        return None
    return [ChosenSkill(row["skill"], row.get("version", "")) for row in body["skills"]]


def _skill(member: Member) -> dict[str, Any]:
    return {
        "skill": str(member.skill),
        "selector": member.selector,
        "pinned": bool(member.item and member.item.pin_id),
        "version": member.version.number if member.version else None,
        "digest": member.version.digest if member.version else None,
    }
