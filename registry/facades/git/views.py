"""Endpoints for git clients, and endpoints that return marketplace documents."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import bodies, etag
from registry.api.attachments import disable_rendering
from registry.api.error_response import response_for
from registry.changes import drafts
from registry.facades.endpoint import FacadeEndpoint
from registry.facades.git import kept, upload_pack
from registry.facades.git.collections import collection_document, collection_repository
from registry.facades.git.errors import GIT_READ_ONLY
from registry.facades.git.history import build_history, history_of
from registry.facades.git.kept import RepositorySource
from registry.facades.git.marketplace import build_marketplace, marketplace_of, plugins_of
from registry.facades.git.plugins import claude_marketplace
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require
from registry.lookup import canonical as canonicals
from registry.lookup import skills
from registry.models import Skill, UseKind
from registry.usage.recording import note_use, skill_use

CANONICAL_SCOPE = "canonical"  # stands for the team in the addresses of canonical skills


class _GitEndpoint(FacadeEndpoint):
    """An endpoint with errors as plain text, which git prints.

    An anonymous request for a missing or private repository gets a request for credentials: git sends a token
    only after this response.
    """

    required_actions = {"GET": (Action.INSTALL,), "POST": (Action.INSTALL,)}
    parser_classes = [bodies.RawBody]
    is_safe_post = True
    body_encodings = ("gzip",)

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        if response.status_code == 404 and not self.request._request.META.get("HTTP_AUTHORIZATION"):
            response = response_for(SIGN_IN_REQUIRED.refusal(), self.request)
        document = json.loads(response.content)
        response.content = f"{document['code']}: {document['message']} {document['remedy']}\n".encode()
        response["Content-Type"] = "text/plain; charset=utf-8"
        if response.status_code == 401:
            response["WWW-Authenticate"] = 'Basic realm="skillquay", charset="UTF-8"'
        return response

    def skill(self, team: str | None, slug: str | None) -> Skill | None:
        """The skill in the URL, or None for the URL of a marketplace. Raises the errors of ``find_skill``,
        and SIGN_IN_REQUIRED for a URL that requires a token.
        """
        if self.kwargs.get("needs_token") and not self.actor.is_signed_in:
            raise SIGN_IN_REQUIRED.refusal()
        if slug is None:
            return None
        is_canonical = team == CANONICAL_SCOPE
        skill = skills.find_skill(canonicals.PREFIX + slug if is_canonical else f"{team}/{slug}", self.actor)
        require(self.actor, Action.INSTALL, skill=skill)
        return skill

    def source(self, skill: Skill | None, team: str | None, *, as_plugin: bool) -> RepositorySource:
        """The repository of the address. Raises NOT_FOUND if there is none that the actor may see."""
        if name := self.kwargs.get("collection"):
            return RepositorySource(*collection_repository(str(team), name, self.actor))
        if skill is None:
            market = marketplace_of(team, self.actor)
            return RepositorySource(market.key, lambda: build_marketplace(market))
        history = history_of(skill, self.actor)
        return RepositorySource(
            history.key(as_plugin=as_plugin), lambda: build_history(history, as_plugin=as_plugin), skill.pk
        )


@extend_schema(exclude=True)
class References(_GitEndpoint):
    """Endpoint that returns the references of a repository."""

    keeps_answers = True

    def get(
        self,
        request: Request,
        team: str | None = None,
        slug: str | None = None,
        *,
        collection: str = "",
        as_plugin: bool = False,
        needs_token: bool = False,
    ) -> HttpResponse:
        if request.query_params.get("service") != "git-upload-pack":
            raise GIT_READ_ONLY.refusal()
        source = self.source(self.skill(team, slug), team, as_plugin=as_plugin)
        return _response(kept.advertisement(source), "advertisement")


@extend_schema(exclude=True)
class UploadPack(_GitEndpoint):
    """Endpoint that returns the objects that a client lacks. A clone or fetch of a skill counts as an
    install.
    """

    def post(
        self,
        request: Request,
        team: str | None = None,
        slug: str | None = None,
        *,
        collection: str = "",
        as_plugin: bool = False,
        needs_token: bool = False,
    ) -> HttpResponse:
        skill = self.skill(team, slug)
        source = self.source(skill, team, as_plugin=as_plugin)
        chunks = iter(lambda: request._request.read(bodies.CHUNK_BYTES), b"")
        body = upload_pack.unpacked_body(
            chunks, is_gzip=request.headers.get("Content-Encoding", "").lower() == "gzip"
        )
        if kept.clone_request(body):
            drafts.keep(is_facade=True)
        data = kept.answer(source, body)
        if skill and b"PACK" in data[:2000]:
            note_use(skill_use(skill, UseKind.INSTALL), self.actor.caller)
        return _response(data, "result")


@extend_schema(exclude=True)
class ReceivePack(_GitEndpoint):
    def post(self, request: Request, **scope: Any) -> HttpResponse:
        raise GIT_READ_ONLY.refusal()


@extend_schema(exclude=True)
class Marketplaces(FacadeEndpoint):
    """Endpoint that returns the marketplace of the site, of a team or of a collection. Each plugin has a
    repository.
    """

    keeps_answers = True
    required_actions = {"GET": (Action.SEE,)}

    def get(self, request: Request, team: str | None = None, collection: str = "") -> HttpResponse:
        if collection:
            return etag.document_response(request, collection_document(str(team), collection, self.actor))
        market = marketplace_of(team, self.actor)
        return etag.document_response(request, claude_marketplace(market.name, plugins_of(market)))


def _response(data: bytes, kind: str) -> HttpResponse:
    response = HttpResponse(data, content_type=f"application/x-git-upload-pack-{kind}")
    return etag.set_private(disable_rendering(response, "upload-pack"))
