"""The base of every address under /api/v1/: who asks, what their token is for, one media type, no NUL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from registry.actors import Actor
from registry.api import authentication, bodies
from registry.models import Scope
from registry.packages.problems import refuse
from registry.permissions import SCOPES, Action, in_scope


class _OneForm(BaseContentNegotiation):
    """Answers are what their address says; a browser's Accept changes nothing."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        kind = (request.content_type or "").split(";")[0].strip().lower()
        return next((p for p in parsers if p.media_type in ("*/*", kind)), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """``needs``: for each method, the actions of which a token must be made for at least one."""

    http_method_names = ["get", "head", "post", "patch", "put", "delete"]
    content_negotiation_class = _OneForm
    parser_classes = [bodies.StrictJson]
    needs: ClassVar[Mapping[str, tuple[Action, ...]]] = {}
    signed_in: ClassVar[bool] = False
    only_asks: ClassVar[bool] = False  # its POST changes nothing: who is nobody may send it, too

    @property
    def actor(self) -> Actor:
        return authentication.actor(self.request)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\0" in str(value) for value in kwargs.values()):
            raise refuse("PATH_UNKNOWN")
        if any("\0" in text for pair in request.query_params.lists() for text in (pair[0], *pair[1])):
            raise refuse("QUERY_INVALID", field="?", reason="NUL")
        bodies.require_length(request._request)
        who = authentication.actor(request)
        changes = request.method not in ("GET", "HEAD", "OPTIONS") and not self.only_asks
        if not who.is_signed_in and (self.signed_in or changes):
            raise refuse("SIGN_IN_REQUIRED")
        self._require_scope(who, "GET" if request.method == "HEAD" else str(request.method))

    def _require_scope(self, who: Actor, method: str) -> None:
        actions = self.needs.get(method, ())
        if not actions or any(in_scope(who, action) for action in actions):
            return
        needed = sorted(scope for scope in Scope if SCOPES[scope] & set(actions))
        if not needed:
            raise refuse("FORBIDDEN", action=actions[0].value)
        raise refuse("TOKEN_SCOPE_MISSING", scopes=", ".join(sorted(who.scopes)), needed=", ".join(needed))
