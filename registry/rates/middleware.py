"""Middleware that adds a request's rate limit to the response."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase


class RateLimitMiddleware:
    """Sets ``RateLimit-*`` on responses to counted requests, and ``Retry-After`` on those with status 429."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if status := getattr(request, "rate_status", None):
            response["RateLimit-Limit"] = str(status.limit)
            response["RateLimit-Remaining"] = str(status.remaining)
            response["RateLimit-Reset"] = str(status.reset_s)
            if response.status_code == 429:
                response.setdefault("Retry-After", str(status.reset_s))
        return response
