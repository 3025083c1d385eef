"""The base class of endpoints for other protocols."""

from typing import Any

from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from rest_framework.request import Request

from registry.api.endpoint import Endpoint
from registry.api.schema import Shape, read_body
from registry.core.addresses import reset_url_prefix
from registry.facades.authentication import AnyTokenAuthentication


class FacadeEndpoint(Endpoint):
    """An endpoint of another protocol: it accepts tokens in any form, never a session, and ignores unknown
    parameters.
    """

    authentication_classes = [AnyTokenAuthentication]
    ignores_parameters = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with reset_url_prefix():
            return super().dispatch(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer: Any = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(answer, ("Authorization", "X-Api-Key"))
        return answer


def read_known(shape: type[Shape], body: Any) -> dict[str, Any]:
    """The validated fields of a JSON body, without unknown ones. Raises the errors of ``read_body``."""
    known = {name: body[name] for name in shape().fields if name in body} if isinstance(body, dict) else body
    return read_body(shape, known)
