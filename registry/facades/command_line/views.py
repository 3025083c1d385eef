"""Serves the command-line client."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from registry.api import etag
from registry.core.addresses import absolute_url
from registry.facades.endpoint import FacadeEndpoint

_SOURCE = Path(__file__).with_name("skillquay.py")
_SITE = 'SITE = "http://127.0.0.1:8000"\n'


@extend_schema(exclude=True)
class CommandLineClient(FacadeEndpoint):
    """Endpoint that returns the client's source with the URL of this site."""

    def get(self, request: Request) -> HttpResponse:
        text = _source().replace(_SITE, f"SITE = {absolute_url('').rstrip('/')!r}\n", 1)
        return etag.text_response(request, text, kind="text/x-python")


@lru_cache(maxsize=1)
def _source() -> str:
    return _SOURCE.read_text(encoding="utf-8")
