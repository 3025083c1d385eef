"""The base classes of API endpoints, including those of other protocols."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from registry.api import authentication, bodies
from registry.api.errors import PATH_UNKNOWN, QUERY_INVALID
from registry.api.schema import Query, read_query
from registry.changes import drafts
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require_scope
from registry.lookup import skills
from registry.models import Skill, Version
from registry.rates.limits import RateLimit, count_request


class _SingleMediaType(BaseContentNegotiation):
    """Ignores the Accept header, because each endpoint responds with a single media type."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        kind = bodies.media_type(request)
        return next((p for p in parsers if p.media_type in ("*/*", kind)), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """An endpoint of the API. A token's scopes must cover one of the method's ``required_actions``."""

    http_method_names = ["get", "head", "post", "patch", "put", "delete"]
    content_negotiation_class = _SingleMediaType
    parser_classes = [bodies.StrictJson]
    required_actions: ClassVar[Mapping[str, tuple[Action, ...]]] = {}
    rate_limits: ClassVar[Mapping[str, RateLimit]] = {}
    requires_sign_in: ClassVar[bool] = False
    contacts_servers: ClassVar[bool] = False  # if True, requests fail if another server can't be reached
    ignores_parameters: ClassVar[bool] = False  # if True, unknown query parameters are ignored
    keeps_answers: ClassVar[bool] = False  # if True, answers to GET are kept, see changes.drafts
    is_facade: ClassVar[bool] = False  # if True, accepts tokens in any form, and no session
    body_encodings: ClassVar[tuple[str, ...]] = ()  # values of Content-Encoding that the endpoint decodes
    is_safe_post: ClassVar[bool] = False  # if True, POST changes nothing, so anonymous clients may send it

    @property
    def actor(self) -> Actor:
        return authentication.request_actor(self.request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\0" in str(value) for value in kwargs.values()):
            raise PATH_UNKNOWN.refusal()
        if any("\0" in text for pair in request.query_params.lists() for text in (pair[0], *pair[1])):
            raise QUERY_INVALID.refusal(field="?", reason="NUL characters are not allowed.")
        bodies.require_length(request._request, encodings=self.body_encodings)
        actor = authentication.request_actor(request)
        method = "GET" if request.method == "HEAD" else str(request.method)
        changes = request.method not in ("GET", "HEAD", "OPTIONS") and not self.is_safe_post
        if not actor.is_signed_in and (self.requires_sign_in or changes):
            raise SIGN_IN_REQUIRED.refusal()
        require_scope(actor, *self.required_actions.get(method, ()))
        documented = getattr(getattr(self, method.lower(), None), "query", None)
        if request.query_params and not documented and not self.ignores_parameters:
            read_query(Query, request)
        if kind := self.rate_limits.get(method):
            self.count(kind)
        elif self.keeps_answers and method == "GET":
            drafts.keep(is_facade=self.is_facade)

    def count(self, kind: RateLimit) -> None:
        """Counts the request against the rate limit; raises RATE_LIMITED above the limit. A
        ``ShellRequest`` has no limits.
        """
        drafts.discard()  # each request must be counted
        if not isinstance(self.request._request, authentication.ShellRequest):
            count_request(self.request._request, self.actor, kind)


class SkillEndpoint(Endpoint):
    """An endpoint whose path names a skill, and possibly one of its versions."""

    def skill(self, team: str, slug: str) -> Skill:
        return skills.find_skill(f"{team}/{slug}", self.actor)

    def version(self, team: str, slug: str, number: str, *, include_held: bool = True) -> Version:
        return skills.find_version(self.skill(team, slug), number, self.actor, include_held=include_held)
