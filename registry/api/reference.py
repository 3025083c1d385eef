"""The API's own pages: the OpenAPI document, Swagger from our own files, and a screen of text for agents."""

from __future__ import annotations

from typing import Any

from django.views.generic import TemplateView
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from registry.addresses import absolute
from registry.models import Scope


class Schema(SpectacularAPIView):
    """The same for everybody, so nobody is asked who they are."""

    authentication_classes = []

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response["Cache-Control"] = "public, max-age=300"
        return response


class Docs(SpectacularSwaggerSplitView):
    """Two requests, page and script: the content policy lets no script stand in a page."""

    authentication_classes = []
    url_name = "api-schema"
    template_name = "api/docs.html"


class Guide(TemplateView):
    template_name = "api/llms.txt"
    content_type = "text/plain; charset=utf-8"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            base=absolute("").rstrip("/"), scopes=", ".join(Scope.values), **context
        )
