"""Canonical skills: what a name means, its text, and what administrators see, change and decide."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from registry import catalog
from registry.api import cursors, etags, examples
from registry.api.canonical_documents import (
    Acceptance,
    CanonicalChangeDoc,
    CanonicalDoc,
    CanonicalRequest,
    MirrorRequest,
    ProposalDoc,
    ProposalQuery,
    Reason,
    Rejection,
    TextQuery,
    canonical_document,
    change_document,
    files_address,
    proposal_document,
)
from registry.api.documents import SkillDetailDoc, page_document, page_shape, skill_detail
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, read_body, read_query
from registry.canonical import PREFIX, proposing, setting, text_of
from registry.models import Canonical, UseKind, Version
from registry.packages.problems import refuse
from registry.permissions import Action, require
from registry.usage import record_use


class _OfSlug(Endpoint):
    needs = dict.fromkeys(("GET", "PUT", "POST", "DELETE"), (Action.SEE,))  # the verbs ask for the person

    def bare(self, slug: str) -> str:
        """The slug of something that an administrator asks about; to others only what they know is there."""
        bare = slug.removeprefix(PREFIX)
        setting.require_setter(bare, self.actor)
        return bare

    def told(self, request: Request, canonical: Canonical) -> HttpResponse:
        row = setting.find_canonical(canonical.slug, self.actor)
        return etags.document_response(request, canonical_document(row, is_setter=True))


class NamedSkill(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="get_named_skill",
        summary="Read the skill that a name means",
        tags=["canonical"],
        responses=SkillDetailDoc,
        examples=[examples.answers(examples.SKILL_DETAIL)],
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """`_canonical_<slug>` is the canonical skill. A bare slug is your own teams' skill, else the
        canonical one, else refused with the candidates. In addresses below, write `_canonical_/<slug>`."""
        skill = catalog.find_skill(slug, self.actor)
        return etags.document_response(request, skill_detail(skill, self.actor))


class Canonicals(Endpoint):
    needs = {"GET": (Action.SEE,)}

    @extend_schema(
        operation_id="list_canonical",
        summary="List the canonical skills",
        tags=["canonical"],
        parameters=[PageQuery],
        responses=page_shape(CanonicalDoc),
        examples=[examples.answers(examples.page(examples.CANONICAL))],
    )
    def get(self, request: Request) -> HttpResponse:
        """By slug; to administrators also mirrors of which nothing is accepted yet."""
        page = cursors.page_of("canonical", read_query(PageQuery, request), kinds=(str,))
        after = page.after[0] if page.after else ""
        rows = list(setting.known_to(self.actor).filter(slug__gt=after)[: page.limit + 1])
        shown = rows[: page.limit]
        cursor = page.next_cursor([shown[-1].slug]) if len(rows) > page.limit else None
        setter = setting.is_setter(self.actor)
        documents = [canonical_document(row, is_setter=setter) for row in shown]
        return etags.document_response(request, page_document(documents, cursor))


class CanonicalDetail(_OfSlug):
    @extend_schema(
        operation_id="get_canonical",
        summary="One canonical skill",
        tags=["canonical"],
        responses=CanonicalDoc,
        examples=[examples.answers(examples.CANONICAL)],
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Which skill, pinned to which bytes, since when."""
        row = setting.find_canonical(slug, self.actor)
        setter = setting.is_setter(self.actor)
        return etags.document_response(request, canonical_document(row, is_setter=setter))

    @extend_schema(
        operation_id="set_canonical",
        summary="Set a canonical skill, or pin another version",
        tags=["canonical"],
        request=CanonicalRequest,
        responses=CanonicalDoc,
        examples=[
            examples.asks({"skill": "docs/summarise", "version": "1.2.0", "reason": "Reviewed by us."}),
            examples.answers(examples.CANONICAL),
        ],
    )
    def put(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session. Read `proposal` first: it says whom this affects."""
        bare = self.bare(slug)
        asked = read_body(CanonicalRequest, request.data)
        version = catalog.find_version(
            catalog.find_skill(asked["skill"], self.actor), asked.get("version"), self.actor
        )
        more = {"follows": asked["follows"], "digest": asked.get("digest", ""), "reason": asked["reason"]}
        return self.told(request, setting.set_canonical(bare, version, self.actor, **more))

    @extend_schema(
        operation_id="unset_canonical",
        summary="Take a canonical name away",
        tags=["canonical"],
        request=Reason,
        responses={204: None},
        examples=[examples.asks({"reason": "Nobody keeps it."})],
    )
    def delete(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session. The skill stays; its history does, too."""
        bare = self.bare(slug)
        setting.unset(bare, self.actor, reason=read_body(Reason, request.data)["reason"])
        return HttpResponse(status=204)


class CanonicalMirror(_OfSlug):
    @extend_schema(
        operation_id="mirror_canonical",
        summary="Copy a canonical skill from an address",
        tags=["canonical"],
        request=MirrorRequest,
        responses=CanonicalDoc,
        examples=[
            examples.asks(
                {"team": "docs", "location": "s3://skills/summarise/", "reason": "The company's own."}
            ),
            examples.answers(examples.CANONICAL),
        ],
    )
    def put(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session. It is read at once and then by interval; what it brings waits
        until it is accepted, and what is pinned is answered until then."""
        bare = self.bare(slug)
        asked = read_body(MirrorRequest, request.data)
        team = catalog.find_team(asked.pop("team"), self.actor)
        return self.told(request, setting.mirror(bare, self.actor, team=team, **asked))


class CanonicalProposal(_OfSlug):
    @extend_schema(
        operation_id="get_canonical_proposal",
        summary="What a change would mean",
        tags=["canonical"],
        parameters=[ProposalQuery],
        responses=ProposalDoc,
        examples=[examples.answers(examples.PROPOSAL)],
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session: which bytes would be answered, to whom, what they may do more."""
        bare = self.bare(slug)
        query = read_query(ProposalQuery, request)
        version = self._version(bare, query)
        return etags.document_response(
            request, proposal_document(proposing.proposal(bare, version, self.actor))
        )

    def _version(self, slug: str, query: dict[str, Any]) -> Version:
        if "skill" in query:
            skill = catalog.find_skill(query["skill"], self.actor)
            return catalog.find_version(skill, query.get("version"), self.actor)
        canonical = setting.find_canonical(slug, self.actor)
        version = proposing.waiting(canonical)
        if version is None:
            raise refuse("CANONICAL_NOTHING_WAITS", name=str(canonical))
        return version


class CanonicalHistory(_OfSlug):
    @extend_schema(
        operation_id="list_canonical_changes",
        summary="The history of a canonical name",
        tags=["canonical"],
        parameters=[PageQuery],
        responses=page_shape(CanonicalChangeDoc),
        examples=[examples.answers(examples.page(examples.CANONICAL_CHANGE))],
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session, the latest first; kept when the name is taken away."""
        bare = self.bare(slug)
        page = cursors.page_of(f"canonical {bare}", read_query(PageQuery, request), kinds=(str,))
        rows, cursor = cursors.newest_first(setting.history(bare), page)
        return etags.document_response(request, page_document([*map(change_document, rows)], cursor))


class CanonicalAccept(_OfSlug):
    @extend_schema(
        operation_id="accept_canonical",
        summary="Answer what waits",
        tags=["canonical"],
        request=Acceptance,
        responses=CanonicalDoc,
        examples=[
            examples.asks({"digest": examples.CANONICAL["pinned"]["digest"], "reason": "Read it."}),
            examples.answers(examples.CANONICAL),
        ],
    )
    def post(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session: the newer version, or what the mirror brought, is pinned."""
        bare = self.bare(slug)
        asked = read_body(Acceptance, request.data)
        return once(request, asked, lambda: self.told(request, setting.accept(bare, self.actor, **asked)))


class CanonicalReject(_OfSlug):
    @extend_schema(
        operation_id="reject_canonical",
        summary="Go on answering what is pinned",
        tags=["canonical"],
        request=Rejection,
        responses=CanonicalDoc,
        examples=[
            examples.asks({"digest": examples.CANONICAL["pinned"]["digest"], "reason": "It reads too much."}),
            examples.answers(examples.CANONICAL),
        ],
    )
    def post(self, request: Request, slug: str) -> HttpResponse:
        """For administrators in a session: what waits is not proposed again; the next change is."""
        bare = self.bare(slug)
        asked = read_body(Rejection, request.data)
        return once(request, asked, lambda: self.told(request, setting.reject(bare, self.actor, **asked)))


class CanonicalText(Endpoint):
    needs = {"GET": (Action.INSTALL,)}

    @extend_schema(
        operation_id="load_canonical",
        summary="The text of a canonical skill",
        tags=["canonical"],
        parameters=[TextQuery],
        responses={(200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR, description="The text.")},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """SKILL.md without front matter, after the line `Base directory for this skill: …`; that place stands
        for `${CLAUDE_SKILL_DIR}` in it. No command is run, no argument put in. Counts as a load."""
        place = read_query(TextQuery, request).get("dir")
        skill = catalog.find_skill(PREFIX + slug.removeprefix(PREFIX), self.actor)
        version = catalog.find_version(skill, None, self.actor)
        require(self.actor, Action.INSTALL, skill=skill)
        text = text_of(version, place or files_address(version)).encode()
        etag = etags.etag_of(text)
        if unchanged := etags.not_modified(request, etag):
            return unchanged
        if request.method == "GET":
            record_use(skill, self.actor.caller, UseKind.LOAD, version=version.number)
        response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
        response["ETag"], response["X-Digest"] = etag, version.digest
        return etags.private(response)
