"""Responses to refused requests that don't reach Django: JSON for the API, pages for browsers."""

from io import BytesIO

from django.core.handlers.asgi import ASGIRequest
from django.utils import translation

from portal.pages.errors import views as pages
from portal.streaming.inner_request import AppResponse, Scope
from registry.api.error_response import request_id, response_for
from registry.api.middleware import API_PREFIXES
from registry.packages.problems import Refusal


def refusal_response(scope: Scope, refused: Refusal) -> AppResponse:
    """The response to the refused request, in the client's language; its headers close the connection."""
    request = ASGIRequest(scope, BytesIO())
    with translation.override(translation.get_language_from_request(request)):
        if scope["path"].startswith(API_PREFIXES):
            response = response_for(refused, request)
        else:
            response = pages.standalone(request, refused.problems[0])
    response["Connection"] = "close"
    response["X-Request-ID"] = request_id(request)
    response["Content-Length"] = str(len(response.content))
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    return AppResponse(response.status_code, headers, response.content)
