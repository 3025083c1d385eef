"""API endpoints of canonical skills, and the look-up of a skill by its bare slug."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from registry.api import etag as etags
from registry.api import pagination
from registry.api.documents.canonical import (
    CanonicalAcceptRequest,
    CanonicalChangeDoc,
    CanonicalDoc,
    CanonicalRejectRequest,
    CanonicalRequest,
    MirrorRequest,
    ProposalDoc,
    ProposalQuery,
    Reason,
    TextQuery,
    canonical_document,
    files_url,
    proposal_document,
)
from registry.api.documents.skills import SkillDetailDoc, page_document, page_schema, skill_detail
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, read_body, read_query
from registry.canonical import pins, proposals
from registry.canonical.errors import CANONICAL_NO_PROPOSAL
from registry.identity.permissions import Action, require
from registry.lookup import skills
from registry.lookup.canonical import PREFIX, instructions_text
from registry.models import Canonical, UseKind, Version
from registry.usage.recording import note_use, use_of

operation = Operations("canonical")


class _CanonicalEndpoint(Endpoint):
    # Tokens are refused later: the operations require a session.
    required_actions = dict.fromkeys(("GET", "PUT", "POST", "DELETE"), (Action.SEE,))

    def require_slug(self, slug: str) -> str:
        """The slug without prefix. Raises FORBIDDEN unless the actor may set canonical skills, or NOT_FOUND
        if the actor can't even see the name.
        """
        bare = slug.removeprefix(PREFIX)
        pins.require_may_set(bare, self.actor)
        return bare

    def respond(self, request: Request, canonical: Canonical) -> HttpResponse:
        row = pins.find_canonical(canonical.slug, self.actor)
        return etags.document_response(request, canonical_document(row, is_setter=True))


class NamedSkill(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("get_canonical_skill", "Get a canonical skill or a skill by its slug", answer=SkillDetailDoc)
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Returns the skill for a bare slug or for `_canonical_<slug>`. A bare slug means a skill of your
        teams; if your teams have none, it means the canonical skill. If several of your teams have the
        slug, the error lists the candidates. In paths of the form `{team}/{slug}`, write
        `_canonical_/<slug>`.
        """
        skill = skills.find_skill(slug, self.actor)
        return etags.document_response(request, skill_detail(skill, self.actor))


class Canonicals(Endpoint):
    required_actions = {"GET": (Action.SEE,)}

    @operation("list_canonical", "List canonical skills", query=PageQuery, answer=page_schema(CanonicalDoc))
    def get(self, request: Request) -> HttpResponse:
        """Lists canonical skills, sorted by slug. Administrators also see mirrors that have no accepted
        version yet.
        """
        page = pagination.read_page("canonical", read_query(PageQuery, request), kinds=(str,))
        after = page.after[0] if page.after else ""
        rows = list(pins.resolvable_by(self.actor).filter(slug__gt=after)[: page.limit + 1])
        shown = rows[: page.limit]
        cursor = page.next_cursor([shown[-1].slug]) if len(rows) > page.limit else None
        setter = pins.may_set(self.actor)
        documents = [canonical_document(row, is_setter=setter) for row in shown]
        return etags.document_response(request, page_document(documents, cursor))


class CanonicalDetail(_CanonicalEndpoint):
    @operation("get_canonical", "Get a canonical skill", answer=CanonicalDoc)
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Returns the skill and the pinned version with its digest."""
        row = pins.find_canonical(slug, self.actor)
        setter = pins.may_set(self.actor)
        return etags.document_response(request, canonical_document(row, is_setter=setter))

    @operation(
        "set_canonical",
        "Set a canonical skill, or pin another version",
        body=CanonicalRequest,
        answer=CanonicalDoc,
    )
    def put(self, request: Request, slug: str) -> HttpResponse:
        """Pins a version as the canonical skill. Get the proposal first to preview the affected callers.
        Requires administrator rights and a session.
        """
        bare = self.require_slug(slug)
        body = read_body(CanonicalRequest, request.data)
        version = skills.find_version(
            skills.find_skill(body["skill"], self.actor), body.get("version"), self.actor
        )
        more = {
            "tracked_channel": body["tracked_channel"],
            "digest": body.get("digest", ""),
            "reason": body["reason"],
        }
        return self.respond(request, pins.set_canonical(bare, version, self.actor, **more))

    @operation("unset_canonical", "Remove a canonical name", body=Reason)
    def delete(self, request: Request, slug: str) -> HttpResponse:
        """Removes the canonical name; the skill and the history of changes stay. A mirror is no longer
        updated. Requires administrator rights and a session.
        """
        bare = self.require_slug(slug)
        pins.unset(bare, self.actor, reason=read_body(Reason, request.data)["reason"])
        return HttpResponse(status=204)


class CanonicalMirror(_CanonicalEndpoint):
    @operation(
        "mirror_canonical", "Mirror a canonical skill from a URL", body=MirrorRequest, answer=CanonicalDoc
    )
    def put(self, request: Request, slug: str) -> HttpResponse:
        """Makes the canonical skill a mirror of the skill at a URL. The site copies the skill at once, and
        then at the given interval. The pinned version changes only when an administrator accepts a new copy.
        Requires administrator rights and a session.
        """
        bare = self.require_slug(slug)
        body = read_body(MirrorRequest, request.data)
        team = skills.find_team(body.pop("team"), self.actor)
        return self.respond(request, pins.mirror(bare, self.actor, team=team, **body))


class CanonicalProposal(_CanonicalEndpoint):
    @operation(
        "get_canonical_proposal",
        "Preview a change of a canonical skill",
        query=ProposalQuery,
        answer=ProposalDoc,
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Previews a change of the pinned version. Returns the new version, the added permissions and the
        affected callers. Requires administrator rights and a session.
        """
        bare = self.require_slug(slug)
        query = read_query(ProposalQuery, request)
        version = self._version(bare, query)
        return etags.document_response(
            request, proposal_document(proposals.preview_change(bare, version, self.actor))
        )

    def _version(self, slug: str, query: dict[str, Any]) -> Version:
        if "skill" in query:
            skill = skills.find_skill(query["skill"], self.actor)
            return skills.find_version(skill, query.get("version"), self.actor)
        canonical = pins.find_canonical(slug, self.actor)
        version = proposals.pending_version(canonical)
        if version is None:
            raise CANONICAL_NO_PROPOSAL.refusal(name=str(canonical))
        return version


class CanonicalHistory(_CanonicalEndpoint):
    @operation(
        "list_canonical_changes",
        "List the changes of a canonical skill",
        query=PageQuery,
        answer=page_schema(CanonicalChangeDoc),
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Lists changes of the canonical name, newest first, even after the name was removed. Requires
        administrator rights and a session.
        """
        bare = self.require_slug(slug)
        page = pagination.read_page(f"canonical {bare}", read_query(PageQuery, request), kinds=(str,))
        rows, cursor = pagination.newest_first(pins.history(bare), page)
        return etags.document_response(
            request, page_document([*map(CanonicalChangeDoc.document, rows)], cursor)
        )


class CanonicalAccept(_CanonicalEndpoint):
    @operation(
        "accept_canonical", "Accept the pending version", body=CanonicalAcceptRequest, answer=CanonicalDoc
    )
    @idempotent()
    def post(self, request: Request, slug: str) -> HttpResponse:
        """Pins the pending version. Requires administrator rights and a session."""
        bare = self.require_slug(slug)
        body = read_body(CanonicalAcceptRequest, request.data)
        return self.respond(request, pins.accept(bare, self.actor, **body))


class CanonicalReject(_CanonicalEndpoint):
    @operation(
        "reject_canonical", "Reject the pending version", body=CanonicalRejectRequest, answer=CanonicalDoc
    )
    @idempotent()
    def post(self, request: Request, slug: str) -> HttpResponse:
        """Rejects the pending version. The next proposal is made when the channel points to another version.
        Requires administrator rights and a session.
        """
        bare = self.require_slug(slug)
        body = read_body(CanonicalRejectRequest, request.data)
        return self.respond(request, pins.reject(bare, self.actor, **body))


class CanonicalText(Endpoint):
    keeps_answers = True
    required_actions = {"GET": (Action.INSTALL,)}

    @operation(
        "get_canonical_text",
        "Get the text of a canonical skill",
        query=TextQuery,
        answer={(200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR, description="The text.")},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Returns the line `Base directory for this skill: …`, followed by SKILL.md without front matter.
        `${CLAUDE_SKILL_DIR}` is replaced by that directory. Commands in the text are not executed, and
        arguments are not inserted. The request counts as a use of the skill.
        """
        place = read_query(TextQuery, request).get("dir")
        skill = skills.find_skill(PREFIX + slug.removeprefix(PREFIX), self.actor)
        version = skills.find_version(skill, None, self.actor)
        require(self.actor, Action.INSTALL, skill=skill)
        text = instructions_text(version, place or files_url(version)).encode()
        etag = etags.etag_of(text)
        if unchanged := etags.not_modified(request, etag):
            return unchanged
        if request.method == "GET":
            note_use(use_of(version, UseKind.LOAD), self.actor.caller)
        response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
        response["ETag"], response["X-Digest"] = etag, version.digest
        return etags.set_private(response)
