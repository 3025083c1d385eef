"""Pages about the API: the OpenAPI document, Swagger UI from local files, and ``llms.txt``."""

from typing import Any

from django.views.generic import TemplateView
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api.authentication import SessionAuthentication
from registry.core.addresses import absolute_url
from registry.models import Scope


class SchemaView(SpectacularAPIView):
    """The OpenAPI document. It needs no authentication, because it is the same for all clients."""

    authentication_classes = []

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response["Cache-Control"] = "public, max-age=300"
        return response


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI. Its script is a separate response: the content security policy forbids inline scripts."""

    authentication_classes = [SessionAuthentication]  # the navigation shows the user
    url_name = "api-schema"
    template_name = "docs/api.html"


class GuideView(TemplateView):
    template_name = "docs/llms.txt"
    content_type = "text/plain; charset=utf-8"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            base=absolute_url("").rstrip("/"), scopes=", ".join(Scope.values), **context
        )
