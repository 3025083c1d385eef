"""Schemathesis sends generated requests, valid and invalid ones, to every operation of the OpenAPI document.

Each response must have a documented status, content type and body, and no request may end in a 500.
"""

import os
from functools import cache

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as openapi_checks

from portal.wsgi import application
from registry.models import Scope
from registry.models.identity import new_uid
from tests.api.conftest import THERE

CHECKS = [
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
]

TIMES = int(os.environ.get("FUZZ_TIMES", "1"))  # a long look: FUZZ_TIMES=50


@cache
def _document():
    from drf_spectacular.generators import SchemaGenerator

    return SchemaGenerator().get_schema(request=None, public=True)


@pytest.fixture(scope="module")
def schema():
    loaded = schemathesis.openapi.from_dict(_document())
    loaded.app = _read_and_closed
    return loaded


@pytest.fixture
def credentials(token_api, bob, administrator):
    """The headers of a caller: ``anonymous``, ``member`` or ``administrator``."""

    def headers(caller):
        if caller == "anonymous":
            return {}
        api = token_api(bob) if caller == "member" else token_api(administrator, *Scope.values)
        return {"Authorization": f"Bearer {api.secret}"}

    return headers


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
@pytest.mark.matrix("path", "method", "caller", at_most=20, full_at_most=130)
@pytest.mark.parametrize("caller", ["anonymous", "member", "administrator"])
@pytest.mark.parametrize(("path", "method"), _operations())
def test_generated_requests_get_documented_responses(schema, private, credentials, path, method, caller):
    headers = credentials(caller) | {"Accept-Encoding": "identity"}
    operation = schema[path][method.upper()]
    there = THERE | {"code": "NOT_FOUND", "username": "alice", "other": private["runs"]}
    there["uid"] = private.get(path.removeprefix("/api/v1/").split("/")[0], new_uid())
    _fuzz(operation, GenerationMode.POSITIVE, headers, there)
    if _has_a_form(operation):
        _fuzz(operation, GenerationMode.NEGATIVE, headers, there)


def _has_a_form(operation):
    """What takes nothing but any text in its path cannot be asked out of form: the search tries 459 times."""
    any_text = ("path", {"type": "string"})
    given = [
        (parameter.location.value, parameter.definition["schema"])
        for parameter in operation.iter_parameters()
    ]
    return bool(operation.body) or any(each != any_text for each in given)


def _fuzz(operation, mode, headers, there):
    documented = operation.definition.raw["responses"]

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
                (name, there[name]) for name in case.path_parameters.keys() & there.keys()
            )
        response = case.call(headers=headers)
        is_stream = "text/event-stream" in str(
            response.headers
        )  # whose schema is of the text, not of an event
        case.validate_response(response, checks=CHECKS[:1] if is_stream else CHECKS)
        assert str(response.status_code) in documented, (response.status_code, response.content[:300])

    each()
