"""Request bodies and documents of saved views. Their filters are those of the page `/runs/`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from rest_framework import serializers

from registry.api.documents.skills import Doc, api_url
from registry.api.schema import Shape, StrictBoolean, StrictText
from registry.core.addresses import absolute_url
from worker.models import RunStatus, SavedRunView

STATUSES = ["waiting", "failure", *RunStatus.values]
PERIODS = ["1h", "24h", "7d", "30d"]


class SavedViewFilter(Shape):
    status = serializers.ChoiceField(
        required=False,
        choices=STATUSES,
        help_text="A status, or a group: `waiting` or `failure`.",
    )
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    version = serializers.CharField(required=False, max_length=64)
    team = serializers.CharField(required=False, max_length=64)
    failure_code = serializers.CharField(required=False, max_length=64)
    caller = serializers.CharField(
        required=False, max_length=150, help_text="A user, or `me`, `agents` or `people`."
    )
    since = serializers.ChoiceField(
        required=False, choices=PERIODS, help_text="The period before the view is opened."
    )
    label = serializers.CharField(required=False, max_length=40)  # type: ignore[assignment]
    pinned = StrictBoolean(required=False)
    request_id = serializers.CharField(required=False, max_length=64)
    error_group = serializers.CharField(required=False, max_length=26)
    ids = serializers.CharField(required=False, max_length=4000, help_text="Run ids, separated by commas.")
    day = serializers.DateField(required=False, help_text="The first day of the runs, in UTC.")
    days = serializers.IntegerField(
        required=False, min_value=1, max_value=366, help_text="Number of days from `day`; 1 by default."
    )

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := self.unknown(data)):
            raise serializers.ValidationError(dict.fromkeys(unknown, "unknown filter"))
        return super().to_internal_value(data)

    def validate_failure_code(self, value: str) -> str:
        return value.upper()


class SavedViewRequest(Shape):
    name = StrictText(help_text="At most 40 characters; you have no other view with this name.")
    filter = SavedViewFilter(help_text="At least one filter.")


class SavedViewChange(Shape):
    name = StrictText(required=False)
    filter = SavedViewFilter(required=False, help_text="Replaces all filters of the view.")


class SavedViewDoc(Doc):
    id = serializers.CharField()
    name = serializers.CharField()
    filter = SavedViewFilter()
    url = serializers.URLField()
    page_url = serializers.URLField(help_text="The list of runs with these filters.")


class SavedViewsDoc(Doc):
    items = SavedViewDoc(many=True)


def read_query_string(body: Mapping[str, Any]) -> str | None:
    """The filters of a request as the query string of the page; None if the request has no filters."""
    if "filter" not in body:
        return None
    given: dict[str, Any] = {name: body["filter"].get(name) for name in map(str, SavedViewFilter().fields)}
    return urlencode({name: 1 if value is True else value for name, value in given.items() if value})


def saved_view_document(view: SavedRunView) -> dict[str, Any]:
    filters: dict[str, Any] = dict(parse_qsl(view.query))
    return {
        "id": view.uid,
        "name": view.name,
        "filter": {name: _read(name, value) for name, value in filters.items()},
        "url": api_url("saved-views", view.uid),
        "page_url": absolute_url(f"/runs/?{view.query}"),
    }


def _read(name: str, value: str) -> Any:
    if name == "pinned":
        return True
    return int(value) if name == "days" else value
