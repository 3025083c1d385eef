"""Schemathesis makes requests from the OpenAPI document, in form and out of it: nothing may end in a 500."""

import os
from functools import cache

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
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


@cache
def _document():
    from drf_spectacular.generators import SchemaGenerator

    return SchemaGenerator().get_schema(request=None, public=True)


@pytest.fixture(scope="module")
def schema():
    loaded = schemathesis.openapi.from_dict(_document())
    loaded.app = _read_and_closed
    return loaded


def _read_and_closed(environ, start_response):
    answer = application(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


def _operations():
    return [(path, method) for path, methods in _document()["paths"].items() for method in methods]


@pytest.mark.row("P2")
@pytest.mark.django_db
@pytest.mark.parametrize(("path", "method"), _operations())
def test_no_request_ends_in_a_server_error(schema, version, bob, token_api, path, method):
    credentials = {"Authorization": f"Bearer {token_api(bob).secret}"}
    operation = schema[path][method.upper()]
    _fuzz(operation, GenerationMode.POSITIVE, credentials)
    if _has_a_form(operation):
        _fuzz(operation, GenerationMode.NEGATIVE, credentials)


def _has_a_form(operation):
    """What takes nothing but any text in its path cannot be asked out of form: the search tries 459 times."""
    any_text = ("path", {"type": "string"})
    given = [
        (parameter.location.value, parameter.definition["schema"])
        for parameter in operation.iter_parameters()
    ]
    return bool(operation.body) or any(each != any_text for each in given)


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

    each()
