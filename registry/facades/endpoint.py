"""The base classes of endpoints for other protocols."""

import json
from typing import Any, ClassVar

from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request

from registry.api.endpoint import Endpoint
from registry.api.errors import PATH_UNKNOWN
from registry.api.schema import Shape, read_body
from registry.core.addresses import reset_url_prefix
from registry.facades.authentication import AnyTokenAuthentication


class FacadeEndpoint(Endpoint):
    """An endpoint of another protocol: it accepts tokens in any form, never a session, and ignores unknown
    parameters.
    """

    authentication_classes = [AnyTokenAuthentication]
    is_facade = True
    ignores_parameters = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with reset_url_prefix():
            return super().dispatch(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer: Any = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(answer, ("Authorization", "X-Api-Key"))
        return answer


class JsonFacadeEndpoint(FacadeEndpoint):
    """An endpoint of a protocol whose errors are JSON documents."""

    invalid_status: ClassVar[int] = 422  # the protocol's status for invalid requests

    def handle_exception(self, exc: Exception) -> Any:
        response: Any = super().handle_exception(exc)
        if response.status_code == 422:
            response.status_code = self.invalid_status
        document = self.error_document(json.loads(response.content), response.status_code)
        response.content = json.dumps(document, ensure_ascii=False).encode()
        return response

    def error_document(self, error: dict[str, Any], status: int) -> dict[str, Any]:
        """The protocol's form of the API's error document."""
        raise NotImplementedError


class UnknownAddress(FacadeEndpoint):
    """Mixin of endpoints that respond with PATH_UNKNOWN to addresses of a protocol that this site does not
    support.
    """

    is_safe_post = True
    keeps_answers = False
    required_actions = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise PATH_UNKNOWN.refusal()


def error_text(error: dict[str, Any]) -> str:
    """The message and the remedy of the API's error document."""
    return f"{error['message']} {error['remedy']}".strip()


def read_known(shape: type[Shape], body: Any) -> dict[str, Any]:
    """The validated fields of a JSON body, without unknown ones. Raises the errors of ``read_body``."""
    known = {name: body[name] for name in shape().fields if name in body} if isinstance(body, dict) else body
    return read_body(shape, known)
