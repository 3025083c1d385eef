"""Base serializers of request bodies and queries. The OpenAPI document is generated from the same classes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from django.http import QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiRequest, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from registry.api.errors import FIELD_INVALID, FIELD_UNKNOWN, QUERY_INVALID, QUERY_UNKNOWN
from registry.api.pagination import MAX_PAGE_SIZE
from registry.core.errors import FIELD_REQUIRED
from registry.packages.problems import Problem, Refusal

Method = TypeVar("Method", bound=Callable[..., Any])
MAX_WAIT_S = 3600  # largest accepted `wait`; the server waits for at most 60 seconds
_MAX_UNKNOWN_KEYS = 20  # unknown keys listed in one refusal


# A JSON object or query that refuses unknown keys: a misspelled filter must not list everything. It has no
# docstring, because the API schema would show it for subclasses.
class Shape(serializers.Serializer[Any]):
    def unknown(self, data: Mapping[str, Any]) -> list[str]:
        return sorted(str(key)[:80] for key in data if key not in self.fields)[:_MAX_UNKNOWN_KEYS]


class Query(Shape):
    """Base serializer of an endpoint's query parameters."""


class WaitQuery(Query):
    wait = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_WAIT_S,
        help_text="Maximum number of seconds to wait for the result, up to 60.",
    )


class UploadQuery(Query):
    upload = serializers.CharField(
        required=False, max_length=26, help_text="The id of a complete upload, in place of a body."
    )


class PageQuery(Query):
    cursor = serializers.CharField(
        required=False, max_length=1000, help_text="`next_cursor` of the previous page."
    )
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_PAGE_SIZE, help_text="Items per page; default: 30."
    )


class StrictBoolean(serializers.BooleanField):
    """A boolean field that accepts only ``true`` and ``false``."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class StrictText(serializers.CharField):
    """A text field that accepts only strings and does not trim them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field(OpenApiTypes.BINARY)
class UploadField(serializers.FileField):
    """An uploaded file. For a plain ``FileField``, the OpenAPI document would show a URL."""


def binary_bodies(media_types: Iterable[str]) -> dict[str, OpenApiRequest]:
    """The OpenAPI description of raw request bodies, by media type."""
    return {media_type: OpenApiRequest(OpenApiTypes.BINARY) for media_type in media_types}


def binary_answer(*media_types: str) -> dict[tuple[int, str], OpenApiResponse]:
    """The OpenAPI description of a download, for the ``answer`` of an operation."""
    content = OpenApiResponse(OpenApiTypes.BINARY, description="The content, as an attachment.")
    return {(200, media_type): content for media_type in media_types}


class Operations:
    """Creates decorators that describe endpoint methods in the OpenAPI document, under the tag ``tag``."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def __call__(
        self,
        operation_id: str,
        summary: str,
        *,
        query: type[Query] | None = None,
        body: Any = None,
        answer: Any = None,
        tag: str = "",
    ) -> Callable[[Method], Method]:
        """A decorator for an endpoint method. The method's docstring becomes the description.

        ``answer`` is the serializer of a 200 response, a mapping from statuses to serializers, or None for a
        204 without content.
        """
        answers = answer if isinstance(answer, Mapping) else {200: answer} if answer else {204: None}
        documented: Callable[[Method], Method] = extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[tag or self.tag],
            parameters=[query] if query else None,
            request=body,
            responses=answers,
        )

        def describe(method: Method) -> Method:
            described = documented(method)
            described.query = query  # type: ignore[attr-defined]  # for Endpoint.initial
            return described

        return describe


def read_query(
    shape: type[Query],
    request: Request,
    *,
    defaults: Mapping[str, str] | None = None,
    ignore_unknown: bool = False,
) -> dict[str, Any]:
    """The validated query parameters. ``defaults`` are form fields that replace absent parameters.
    ``ignore_unknown`` drops unknown parameters; endpoints of other protocols set it.

    Raises one Refusal with a QUERY_INVALID problem per repeated parameter. If none is repeated, raises one
    with a problem for each unknown or invalid parameter.
    """
    if repeated := _repeated_parameters(shape, request.query_params):
        raise Refusal(*repeated)
    if ignore_unknown:
        known = {name: text for name, text in request.query_params.items() if name in shape().fields}
        return _read(shape, known, "QUERY")
    if defaults is None:
        return _read(shape, request.query_params, "QUERY")
    return _read(shape, {**defaults, **request.query_params.dict()}, "QUERY")


def read_body(shape: type[Shape], body: Any) -> dict[str, Any]:
    """The validated JSON body. Raises one Refusal with a problem for each unknown or invalid field."""
    return _read(shape, body, "FIELD")


def _repeated_parameters(shape: type[Query], data: QueryDict) -> list[Problem]:
    """A problem for each repeated parameter that is not a list. Without this check, only the last value would
    count.
    """
    fields, many = shape().fields, (serializers.ListField, serializers.MultipleChoiceField)
    return [
        QUERY_INVALID.problem(field=name, reason="Send it only once.").at(name)
        for name, values in data.lists()
        if len(values) > 1 and not isinstance(fields.get(name), many)
    ]


def _read(shape: type[Shape], data: Any, kind: str) -> dict[str, Any]:
    serializer = shape(data=data)
    problems: list[Problem] = []
    if isinstance(data, Mapping | QueryDict):
        known = tuple(serializer.fields) or "-"
        problems = [
            _UNKNOWN[kind].problem(field=name, known=known).at(name) for name in serializer.unknown(data)
        ]
    if not serializer.is_valid():
        problems += _problems(serializer.errors, "", kind)
    if problems:
        raise Refusal(*problems)
    return dict(serializer.validated_data)


_UNKNOWN = {"FIELD": FIELD_UNKNOWN, "QUERY": QUERY_UNKNOWN}
_INVALID = {"FIELD": FIELD_INVALID, "QUERY": QUERY_INVALID}


def _problems(errors: Any, path: str, kind: str) -> Iterator[Problem]:
    if isinstance(errors, dict):
        for key, value in errors.items():
            inner = path if key == "non_field_errors" else f"{path}/{key}".lstrip("/")
            yield from _problems(value, inner, kind)
    elif isinstance(errors, list):
        for error in errors:
            yield from _problems(error, path, kind)
    elif getattr(errors, "code", "") == "required" and kind == "FIELD":
        yield FIELD_REQUIRED.problem(field=path).at(path)
    else:
        yield _INVALID[kind].problem(field=path or "the body", reason=str(errors)[:300]).at(path)
