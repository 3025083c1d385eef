"""What a request may hold, said once: checked here, and documented from the same classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict
from rest_framework import serializers
from rest_framework.request import Request

from registry.api.cursors import LONGEST_PAGE
from registry.packages.problems import Problem, Refused, problem

LONGEST_WAIT_S = 3600  # that may be asked for
_MOST_TOLD = 20  # unknown keys named in one refusal


class Shape(serializers.Serializer[Any]):
    """A JSON object or a query whose unknown keys are refused: a filter misspelt must not list everything."""

    def unknown(self, given: Mapping[str, Any]) -> list[str]:
        return sorted(str(key)[:80] for key in given if key not in self.fields)[:_MOST_TOLD]


class Query(Shape):
    """The parameters of an address."""


class WaitQuery(Query):
    wait = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LONGEST_WAIT_S,
        help_text="Seconds to wait for the end, at most 60; the answer comes as soon as it is there.",
    )


class PageQuery(Query):
    cursor = serializers.CharField(
        required=False, max_length=1000, help_text="`next_cursor` of the page before."
    )
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=LONGEST_PAGE, help_text="Items a page; 30 when not said."
    )


class StrictBoolean(serializers.BooleanField):
    """``true`` or ``false`` and nothing that only looks like it."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictText(serializers.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


def read_query(
    shape: type[Query], request: Request, *, also: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The address's parameters, typed; every problem at once. ``also``: a form's fields, which yield."""
    if twice := _said_twice(shape, request.query_params):
        raise Refused(*twice)
    if also is None:
        return _read(shape, request.query_params, "QUERY")
    return _read(shape, {**also, **request.query_params.dict()}, "QUERY")


def read_body(shape: type[Shape], body: Any) -> dict[str, Any]:
    """The JSON body, typed; every problem at once."""
    return _read(shape, body, "FIELD")


def _said_twice(shape: type[Query], given: QueryDict) -> list[Problem]:
    """A filter of which only the last value would count."""
    fields, many = shape().fields, (serializers.ListField, serializers.MultipleChoiceField)
    return [
        problem("QUERY_INVALID", path=name, field=name, reason="it stands there more than once")
        for name, values in given.lists()
        if len(values) > 1 and not isinstance(fields.get(name), many)
    ]


def _read(shape: type[Shape], given: Any, kind: str) -> dict[str, Any]:
    checked = shape(data=given)
    problems: list[Problem] = []
    if isinstance(given, Mapping | QueryDict):
        known = ", ".join(checked.fields) or "-"
        problems = [
            problem(f"{kind}_UNKNOWN", path=name, field=name, known=known) for name in checked.unknown(given)
        ]
    if not checked.is_valid():
        problems += _problems(checked.errors, "", kind)
    if problems:
        raise Refused(*problems)
    return dict(checked.validated_data)


def _problems(errors: Any, path: str, kind: str) -> Iterator[Problem]:
    if isinstance(errors, dict):
        for key, value in errors.items():
            inner = path if key == "non_field_errors" else f"{path}/{key}".lstrip("/")
            yield from _problems(value, inner, kind)
    elif isinstance(errors, list):
        for error in errors:
            yield from _problems(error, path, kind)
    elif getattr(errors, "code", "") == "required" and kind == "FIELD":
        yield problem("FIELD_REQUIRED", path=path, field=path)
    else:
        yield problem(f"{kind}_INVALID", path=path, field=path or "the body", reason=str(errors)[:300])
