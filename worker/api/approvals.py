"""Approvals: which runs wait for somebody's leave, and what a person says to one."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import cursors, etags, examples
from registry.api.documents import Doc, page_document, page_shape
from registry.api.endpoint import Endpoint
from registry.api.idempotency import once
from registry.api.shapes import PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.permissions import Action
from worker import runs
from worker.api import examples as run_examples
from worker.api.documents import RunDoc
from worker.approvals import asking, deciding
from worker.models import Choice, Run

_STANDINGS = ("waiting", *Choice.values, "cancelled")
_UID = "01kajq3s5d8m6v9x2c4b7n1p0z"
_ROW: dict[str, Any] = {
    "run": _UID,
    "skill": "docs/summarise",
    "version": "1.3.0",
    "digest": run_examples.RUN["digest"],
    "team": "docs",
    "caller": "bob",
    "token": "night agent",
    "status": "waiting_approval",
    "created_at": "2026-11-20T09:30:00.000000Z",
    "standing": "waiting",
    "page": f"https://skills.example/runs/{_UID}/",
    "expires_at": "2026-11-23T09:30:00.000000Z",
    "asks": {"tools": ["Bash", "Write"]},
    "new": {"tools": ["Write"]},
    "unsafe_properties": ["allowed_tools"],
    "exact": "docs/summarise",
    "prefix": "docs/summarise:*",
    "decided_at": None,
    "decided_by": None,
    "reason": "",
    "rule": None,
}


class ApprovalDoc(Doc):
    run = serializers.CharField(help_text="The id of the run; a decision is posted to `/runs/{id}/approval`.")
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    team = serializers.CharField(allow_null=True, help_text="Whose maintainers are asked.")
    caller = serializers.CharField(allow_null=True)
    token = serializers.CharField(allow_null=True, help_text="The name of the token that asks.")
    status = serializers.CharField(help_text="The run's.")
    created_at = serializers.DateTimeField()
    standing = serializers.ChoiceField(choices=_STANDINGS)
    page = serializers.URLField(help_text="Where a person decides.")
    expires_at = serializers.DateTimeField(help_text="Refused then, unless somebody decides before.")
    asks = serializers.DictField(help_text="Everything that the version asks for, part by part.")
    new = serializers.DictField(help_text="What of it goes beyond an earlier allowance.")
    unsafe_properties = serializers.ListField(child=serializers.CharField())
    exact = serializers.CharField(allow_null=True, help_text="The rule that would allow this skill.")
    prefix = serializers.CharField(allow_null=True, help_text="And all whose names begin so.")
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    rule = serializers.CharField(allow_null=True, help_text="The id of the rule that was made with it.")


class ApprovalsQuery(PageQuery):
    standing = serializers.ChoiceField(
        required=False, choices=["waiting", "decided"], help_text="Both when not said."
    )
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    team = serializers.CharField(required=False, max_length=64)


class DecisionRequest(Shape):
    decision = serializers.ChoiceField(choices=[choice.value for choice in deciding.DECISIONS])
    reason = StrictText(required=False, allow_blank=True, max_length=deciding.LONGEST_REASON)
    rule = StrictBoolean(default=False, help_text="With `denied`: deny the skill from now on too.")


class Approvals(Endpoint):
    needs = {"GET": (Action.READ_RUNS, Action.RUN)}
    signed_in = True

    @extend_schema(
        operation_id="list_approvals",
        summary="List the runs that somebody has to let",
        tags=["runs"],
        parameters=[ApprovalsQuery],
        responses=page_shape(ApprovalDoc),
        examples=[examples.answers(examples.page(_ROW))],
    )
    def get(self, request: Request) -> HttpResponse:
        """Of your runs and your teams'; the newest first."""
        query = read_query(ApprovalsQuery, request)
        rows = asking.narrowed(asking.approvals(self.actor), query)
        asked = Run.objects.filter(approval__in=rows).only("uid")
        found, cursor = cursors.newest_first(asked, cursors.page_of("approvals", query, kinds=(str,)))
        page = rows.filter(run__in=found).order_by("-run__uid")
        items = [asking.approval_row(approval, self.actor) for approval in page]
        return etags.document_response(request, page_document(items, cursor))


class Decide(Endpoint):
    needs = {"GET": (Action.READ_RUNS, Action.RUN), "POST": (Action.SEE,)}
    signed_in = True

    @extend_schema(
        operation_id="get_approval",
        summary="Read what a run asks for, and what was decided",
        tags=["runs"],
        responses=ApprovalDoc,
        examples=[examples.answers(_ROW)],
    )
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Absent where nobody had to be asked."""
        return etags.document_response(request, asking.approval_row(asking.find(uid, self.actor), self.actor))

    @extend_schema(
        operation_id="decide_approval",
        summary="Let a waiting run start, or refuse it",
        tags=["runs"],
        request=DecisionRequest,
        responses=RunDoc,
        examples=[
            examples.asks({"decision": "denied", "reason": "Not on this machine."}),
            examples.answers({**run_examples.RUN, "status": "queued", "approval": {"standing": "once"}}),
        ],
    )
    def post(self, request: Request, uid: str) -> HttpResponse:
        """In a session: maintainers allow `once` or say `denied` with a reason, owners make the `exact` or
        the `prefix` rule, which lets every waiting run start that it covers. Of two who decide one wins."""
        approval = asking.find(uid, self.actor)  # before the body is read: a stranger learns nothing
        asked = read_body(DecisionRequest, request.data)

        def act() -> HttpResponse:
            run = deciding.decide(
                approval,
                Choice(asked["decision"]),
                self.actor,
                reason=asked.get("reason", ""),
                rule=asked["rule"],
            )
            return etags.document_response(request, runs.run_document(run, actor=self.actor))

        return once(request, {**asked, "run": uid}, act)
