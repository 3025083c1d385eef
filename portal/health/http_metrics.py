"""Counts and durations of HTTP requests in this process, or in all web processes of this host.

Several processes share their metrics through files if PROMETHEUS_MULTIPROC_DIR names a folder; ``manage.py
up`` sets it. The variable must be set before this module is imported.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of series
_registry = CollectorRegistry()
_requests = Counter(
    "skillquay_http_requests", "HTTP requests.", ("view", "method", "status"), registry=_registry
)
_durations = Histogram(
    "skillquay_http_request_duration_seconds",
    "Durations of HTTP requests, without the time to send a stream.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
    registry=_registry,
)


class HttpMetricsMiddleware:
    """Counts requests by view, method and status, and measures their durations."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response = self.get_response(request)
        count_request(_view(request), str(request.method), response.status_code, began)
        return response


def count_request(view: str, method: str, status: int, began: float) -> None:
    """Counts a request to the view and its duration; ``began`` is a value of ``time.perf_counter``."""
    _durations.observe(time.perf_counter() - began)
    _requests_of(view, method if method in _METHODS else "other", status).inc()


@lru_cache(maxsize=4_096)
def _requests_of(view: str, method: str, status: int) -> Counter:
    return _requests.labels(view, method, status)


def _view(request: HttpRequest) -> str:
    """The name or route of the URL pattern, so that the URLs of all objects of one type share a label."""
    match = request.resolver_match
    if match is None:
        return "static" if request.path_info.startswith("/static/") else "none"
    return match.url_name or match.route or "none"


def http_registry() -> CollectorRegistry:
    """The metrics of this process, or of all web processes that share ``PROMETHEUS_MULTIPROC_DIR``."""
    if FOLDER not in os.environ:
        return _registry
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return shared
