"""Endpoints of channels, and of renaming and merging skills."""

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, SkillDetailDoc, channels_of, skill_detail
from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.identity.permissions import Action
from registry.lookup import skills
from registry.versions.lifecycle import channels as publishing_channels
from registry.versions.lifecycle import merge
from registry.versions.lifecycle import rename as publishing_rename

operation = Operations("versions")


class ChannelsDoc(Doc):
    channels = serializers.DictField(
        child=serializers.CharField(), help_text="Object with the channel names and their version numbers."
    )


class ChannelRequest(Shape):
    version = StrictText(max_length=64, help_text="A version number, `latest` or another channel's name.")


class SkillRenameRequest(Shape):
    slug = StrictText(max_length=64, required=False)
    team = StrictText(
        max_length=64, required=False, help_text="The new team. You must be allowed to publish to it."
    )


class SkillMergeRequest(Shape):
    into = StrictText(
        max_length=130, help_text="`team/slug` of the other skill. You must be allowed to publish to it."
    )


class Channels(SkillEndpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_channels", "List a skill's channels", answer=ChannelsDoc)
    def get(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Lists the skill's channels, without the automatic channel `latest`. You can use a channel's name
        wherever the API takes a version number.
        """
        label = f"{team}/{slug}"
        return etag.renewable_response(
            request, lambda actor: {"channels": channels_of(skills.find_skill(label, actor), actor)}
        )


class ChannelDetail(SkillEndpoint):
    required_actions = {"PUT": (Action.RELEASE,), "DELETE": (Action.SETTINGS,)}

    @operation("set_channel", "Set or move a channel", body=ChannelRequest, answer=ChannelsDoc)
    def put(self, request: Request, team: str, slug: str, name: str) -> HttpResponse:
        """Points the channel to a version, which must be neither held nor yanked. Requires the maintainer
        role or administrator rights.
        """
        skill = self.skill(team, slug)
        body = read_body(ChannelRequest, request.data)
        version = skills.find_version(skill, body["version"], self.actor)
        publishing_channels.set_channel(name, version, self.actor)
        return etag.document_response(request, {"channels": channels_of(skill, self.actor)})

    @operation("remove_channel", "Remove a channel", answer=ChannelsDoc)
    def delete(self, request: Request, team: str, slug: str, name: str) -> HttpResponse:
        """Removes the channel, but not its version. Requires the maintainer role or administrator rights."""
        skill = self.skill(team, slug)
        publishing_channels.remove_channel(skill, name, self.actor)
        return etag.document_response(request, {"channels": channels_of(skill, self.actor)})


class Rename(SkillEndpoint):
    required_actions = {"POST": (Action.SEE,)}  # tokens are refused later: the operation requires a session

    @operation(
        "rename_skill",
        "Rename or transfer a skill",
        tag="skills",
        body=SkillRenameRequest,
        answer=SkillDetailDoc,
    )
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Renames the skill or moves it to another team. The old address redirects to the skill; no other
        skill can take it. Requires a session, and the owner role or administrator rights.
        """
        skill = self.skill(team, slug)
        body = read_body(SkillRenameRequest, request.data)
        to = skills.find_team(body["team"], self.actor) if "team" in body else None
        renamed = publishing_rename.rename(skill, self.actor, slug=body.get("slug", ""), team=to)
        return etag.document_response(request, skill_detail(renamed, self.actor))


class Merge(SkillEndpoint):
    required_actions = {"POST": (Action.SEE,)}

    @operation(
        "merge_skill",
        "Merge a skill into another",
        tag="skills",
        body=SkillMergeRequest,
        answer=SkillDetailDoc,
    )
    @idempotent()
    def post(self, request: Request, team: str, slug: str) -> HttpResponse:
        """Merges the skill into another one, to which its address redirects. Exact versions of the merged
        skill stay available, so that pins keep working. Requires a session, and the owner role or
        administrator rights.
        """
        skill = self.skill(team, slug)
        body = read_body(SkillMergeRequest, request.data)
        into = merge.merge(skill, skills.find_skill(body["into"], self.actor), self.actor)
        return etag.document_response(request, skill_detail(into, self.actor))
