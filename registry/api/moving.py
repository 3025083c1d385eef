"""Channels of a skill, and its way to another address."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry import catalog, publishing
from registry.api import etags, examples
from registry.api.documents import Doc, SkillDetailDoc, channels_of, skill_detail
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import Shape, StrictText, read_body
from registry.models import Skill
from registry.permissions import Action

_CHANNELS = {"channels": {"stable": "1.2.0", "beta": "1.3.0-rc.1"}}


class ChannelsDoc(Doc):
    channels = serializers.DictField(child=serializers.CharField(), help_text="Version numbers by name.")


class ChannelTarget(Shape):
    version = StrictText(max_length=64, help_text="A number, or another channel's name.")


class Renaming(Shape):
    slug = StrictText(max_length=64, required=False)
    team = StrictText(max_length=64, required=False, help_text="One to which you may publish.")


class Merging(Shape):
    into = StrictText(max_length=130, help_text="`team/slug`, to which you may publish.")


class _OfSkill(Endpoint):
    def skill(self, team: str, slug: str) -> Skill:
        return catalog.find_skill(f"{team}/{slug}", self.actor)


class Channels(_OfSkill):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_channels",
        summary="List a skill's channels",
        tags=["versions"],
        responses=ChannelsDoc,
        examples=[examples.answers(_CHANNELS)],
    )
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """A channel's name stands wherever a version's number does; `latest` follows by itself."""
        skill = self.skill(team, slug)
        return etags.document_response(request, {"channels": channels_of(skill, self.actor)})


class ChannelDetail(_OfSkill):
    needs = {"PUT": (Action.SETTINGS,), "DELETE": (Action.SETTINGS,)}

    @extend_schema(
        operation_id="set_channel",
        summary="Set or move a channel",
        tags=["versions"],
        request=ChannelTarget,
        responses=ChannelsDoc,
        examples=[examples.asks({"version": "1.2.0"}), examples.answers(_CHANNELS)],
    )
    def put(self, request: Request, team: str, slug: str, name: str) -> HttpResponse:
        """For maintainers. Neither held nor yanked versions."""
        skill = self.skill(team, slug)
        asked = read_body(ChannelTarget, request.data)
        version = catalog.find_version(skill, asked["version"], self.actor)
        publishing.set_channel(name, version, self.actor)
        return etags.document_response(request, {"channels": channels_of(skill, self.actor)})

    @extend_schema(
        operation_id="remove_channel",
        summary="Remove a channel",
        tags=["versions"],
        responses={200: ChannelsDoc},
        examples=[examples.answers(_CHANNELS)],
    )
    def delete(self, request: Request, team: str, slug: str, name: str) -> HttpResponse:
        """Its version stays what it is."""
        skill = self.skill(team, slug)
        publishing.remove_channel(skill, name, self.actor)
        return etags.document_response(request, {"channels": channels_of(skill, self.actor)})


class Rename(_OfSkill):
    needs = {"POST": (Action.SEE,)}  # no token reaches further: the verb asks for the person

    @extend_schema(
        operation_id="rename_skill",
        summary="Give a skill another address",
        tags=["skills"],
        request=Renaming,
        responses=SkillDetailDoc,
        examples=[examples.asks({"slug": "summarise"}), examples.answers(examples.SKILL_DETAIL)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For owners, in a session. The old address goes on meaning it, and is never given to another."""

        def act() -> HttpResponse:
            skill = self.skill(team, slug)
            asked = read_body(Renaming, request.data)
            to = catalog.find_team(asked["team"], self.actor) if "team" in asked else None
            renamed = publishing.rename(skill, self.actor, slug=asked.get("slug", ""), team=to)
            return etags.document_response(request, skill_detail(renamed, self.actor))

        return once(request, request.data, act)


class Merge(_OfSkill):
    needs = {"POST": (Action.SEE,)}

    @extend_schema(
        operation_id="merge_skill",
        summary="Merge a skill into another",
        tags=["skills"],
        request=Merging,
        responses=SkillDetailDoc,
        examples=[examples.asks({"into": "docs/summarise"}), examples.answers(examples.SKILL_DETAIL)],
    )
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """For owners, in a session. Its address means the other from now on; its exact versions stay what
        they were, so that who pinned one gets the same bytes."""

        def act() -> HttpResponse:
            skill = self.skill(team, slug)
            asked = read_body(Merging, request.data)
            into = publishing.merge(skill, catalog.find_skill(asked["into"], self.actor), self.actor)
            return etags.document_response(request, skill_detail(into, self.actor))

        return once(request, request.data, act)
