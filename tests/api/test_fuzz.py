"""Schemathesis makes requests from the OpenAPI document, in form and out of it: nothing may end in a 500."""

import contextlib
import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import checks
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as openapi_checks

from portal.wsgi import application

CHECKS = [
    checks.not_a_server_error,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]

TIMES = int(os.environ.get("FUZZ_TIMES", "1"))  # a long look: FUZZ_TIMES=50
THERE = {"team": "docs", "slug": "summarise", "number": "1.0.0", "path": "SKILL.md", "code": "NOT_FOUND"}
THERE |= {"before": "1.0.0", "after": "latest", "name": "stable"}


@pytest.fixture(scope="module")
def schema():
    from drf_spectacular.generators import SchemaGenerator

    document = SchemaGenerator().get_schema(request=None, public=True)
    loaded = schemathesis.openapi.from_dict(document)
    loaded.app = _read_and_closed
    return loaded


def _read_and_closed(environ, start_response):
    answer = application(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


def _operations():
    from drf_spectacular.generators import SchemaGenerator

    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return [(path, method) for path, methods in paths.items() for method in methods]


@pytest.mark.row("P2")
@pytest.mark.django_db
@pytest.mark.parametrize(("path", "method"), _operations())
def test_no_request_ends_in_a_server_error(schema, version, bob, token_api, path, method):
    credentials = {"Authorization": f"Bearer {token_api(bob).secret}"}
    operation = schema[path][method.upper()]
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        _fuzz(operation, mode, credentials)


def _fuzz(operation, mode, credentials):
    @settings(
        max_examples=2 * TIMES,
        phases=[Phase.generate],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def each(case):
        if mode is GenerationMode.POSITIVE:
            case.path_parameters.update(
                (name, THERE[name]) for name in case.path_parameters.keys() & THERE.keys()
            )
        response = case.call(headers=credentials)
        case.validate_response(response, checks=CHECKS)

    with contextlib.suppress(Unsatisfiable):  # what takes nothing cannot be asked out of form
        each()
