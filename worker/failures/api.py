from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, api_url, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.schema import Operations, PageQuery, Shape, StrictText, read_body, read_query
from registry.core.addresses import absolute_url
from registry.core.time import rfc3339
from registry.identity.permissions import Action
from worker.failures import changes
from worker.failures.errors import ERROR_GROUP_VERSION_INVALID
from worker.failures.groups import (
    CountRow,
    GroupFilter,
    GroupView,
    callers_of,
    find_group,
    list_groups,
    runs_of,
    versions_of,
)
from worker.models import ErrorGroupState

operation = Operations("runs")
_READS = (Action.READ_RUNS, Action.RUN)
_SHOWN_RUNS = 10


class ErrorGroupsQuery(PageQuery):
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    skill_contains = serializers.CharField(
        required=False, max_length=130, help_text="Only groups of skills whose name contains this text."
    )
    team = serializers.CharField(required=False, max_length=64, help_text="Only skills of this team.")
    state = serializers.ChoiceField(required=False, choices=ErrorGroupState.values)
    mine = serializers.BooleanField(default=False, help_text="Only groups that are assigned to you.")


class ErrorGroupSummaryDoc(Doc):
    id = serializers.CharField()
    skill = serializers.CharField()
    state = serializers.ChoiceField(choices=ErrorGroupState.values)
    failure_code = serializers.CharField()
    readable = serializers.BooleanField(help_text="Whether you can read the content of a run of the group.")
    type = serializers.CharField(
        allow_null=True, help_text="The exception type, which can be empty; null unless `readable`."
    )
    message = serializers.CharField(
        allow_null=True,
        help_text="Message with placeholders such as `<n>` for values that differ; null unless `readable`.",
    )
    file = serializers.CharField(
        allow_null=True, help_text="The file in the package where the error occurred; null unless `readable`."
    )
    count = serializers.IntegerField(help_text="Number of failed runs that you can see.")
    first_seen = serializers.DateTimeField()
    last_seen = serializers.DateTimeField()
    resolved_in = serializers.CharField(allow_null=True, help_text="Version in which the error was resolved.")
    assigned_to = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    page_url = serializers.URLField()


class FailureCountDoc(Doc):
    name = serializers.CharField(
        allow_null=True, help_text="Version or user name; null for runs without a caller."
    )
    count = serializers.IntegerField()
    last_seen = serializers.DateTimeField()


class ErrorGroupRunDoc(Doc):
    id = serializers.CharField()
    number = serializers.IntegerField()
    version = serializers.CharField()
    status = serializers.CharField()
    finished_at = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()


class ErrorGroupDoc(ErrorGroupSummaryDoc):
    resolved_at = serializers.DateTimeField(allow_null=True)
    resolved_by = serializers.CharField(allow_null=True)
    regressed_at = serializers.DateTimeField(allow_null=True)
    versions = FailureCountDoc(many=True, help_text="Failures by version, newest failure first.")
    callers = FailureCountDoc(
        many=True, help_text="Failures by caller, most failures first; at most 50 callers."
    )
    runs = ErrorGroupRunDoc(many=True, help_text="The newest 10 runs that you can see.")


class ErrorGroupRequest(Shape):
    state = serializers.ChoiceField(
        required=False, choices=[ErrorGroupState.OPEN.value, ErrorGroupState.RESOLVED.value]
    )
    resolved_in = StrictText(
        required=False, max_length=64, help_text="Version number; required to resolve the group."
    )
    assigned_to = StrictText(
        required=False,
        allow_null=True,
        max_length=150,
        help_text="User name of a member of the skill's team; null for no one.",
    )


class ErrorGroups(Endpoint):
    required_actions = {"GET": _READS}
    requires_sign_in = True

    @operation(
        "list_error_groups",
        "List error groups",
        query=ErrorGroupsQuery,
        answer=page_schema(ErrorGroupSummaryDoc),
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists groups of failed runs with the same cause, sorted by newest failure. Counts and times include
        only runs that you can see.
        """
        query = read_query(ErrorGroupsQuery, request)
        page = pagination.read_page("error-groups", query, kinds=(str, str))
        chosen = GroupFilter(
            query.get("skill", ""),
            query.get("team", ""),
            query.get("state", ""),
            query["mine"],
            query.get("skill_contains", ""),
        )
        found = list_groups(self.actor, chosen, limit=page.limit + 1, after=_position(page.after))
        items = found[: page.limit]
        last = items[-1].position if len(found) > page.limit else None
        cursor = page.next_cursor([last[0].isoformat(), last[1]]) if last else None
        return etag.document_response(request, page_document([_summary(each) for each in items], cursor))


class ErrorGroupDetail(Endpoint):
    required_actions = {"GET": _READS, "PATCH": (Action.RELEASE,)}
    requires_sign_in = True

    @operation("get_error_group", "Get an error group", answer=ErrorGroupDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the group with its versions, callers and newest runs, limited to those that you can see."""
        return etag.document_response(request, self._document(uid))

    @operation(
        "update_error_group",
        "Resolve, reopen or assign an error group",
        body=ErrorGroupRequest,
        answer=ErrorGroupDoc,
    )
    def patch(self, request: Request, uid: str) -> HttpResponse:
        """Resolves, reopens or assigns the group. If the version `resolved_in` or a newer one fails in the
        same way, a resolved group becomes `regressed`. Requires at least the maintainer role in the skill's
        team, or administrator rights.
        """
        group = find_group(uid, self.actor).group
        body = read_body(ErrorGroupRequest, request.data)
        if "assigned_to" in body:
            changes.assign(group, body["assigned_to"] or "", self.actor)
        if "resolved_in" in body or body.get("state") == ErrorGroupState.RESOLVED:
            if "resolved_in" not in body or body.get("state") == ErrorGroupState.OPEN:
                raise ERROR_GROUP_VERSION_INVALID.refusal(version="").at("resolved_in")
            changes.resolve(group, body["resolved_in"], self.actor)
        elif "state" in body:
            changes.reopen(group, self.actor)
        return etag.document_response(request, self._document(uid))

    def _document(self, uid: str) -> dict[str, Any]:
        view = find_group(uid, self.actor)
        group = view.group
        runs = runs_of(group, self.actor).order_by("-id").only(*_RUN_COLUMNS)[:_SHOWN_RUNS]
        return _summary(view) | {
            "resolved_at": rfc3339(group.resolved_at),
            "resolved_by": group.resolved_by.username if group.resolved_by else None,
            "regressed_at": rfc3339(group.regressed_at),
            "versions": [_count(row) for row in versions_of(group, self.actor)],
            "callers": [_count(row) for row in callers_of(group, self.actor)],
            "runs": [
                {
                    "id": run.uid,
                    "number": run.number,
                    "version": run.version_number,
                    "status": run.status,
                    "finished_at": rfc3339(run.finished_at),
                    "url": api_url("runs", run.uid),
                }
                for run in runs
            ],
        }


_RUN_COLUMNS = ("uid", "number", "version_number", "status", "finished_at")


def _position(after: tuple[Any, ...] | None) -> tuple[datetime, str] | None:
    return (datetime.fromisoformat(after[0]), after[1]) if after else None


def _summary(view: GroupView) -> dict[str, Any]:
    group = view.group
    content: Mapping[str, str | None] = {
        name: getattr(group, name) if view.readable else None for name in ("type", "message", "file")
    }
    return {
        "id": group.uid,
        "skill": str(group.skill),
        "state": group.state,
        "failure_code": group.failure_code,
        "readable": view.readable,
        **content,
        "count": view.count,
        "first_seen": rfc3339(view.first_seen),
        "last_seen": rfc3339(view.last_seen),
        "resolved_in": group.resolved_in or None,
        "assigned_to": group.assigned_to.username if group.assigned_to else None,
        "url": api_url("error-groups", group.uid),
        "page_url": absolute_url(f"/failures/{group.uid}/"),
    }


def _count(row: CountRow) -> dict[str, Any]:
    return {"name": row.name or None, "count": row.count, "last_seen": rfc3339(row.last_seen)}
