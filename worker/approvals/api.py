from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag, pagination
from registry.api.documents.skills import Doc, page_document, page_schema
from registry.api.endpoint import Endpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, PageQuery, Shape, StrictBoolean, StrictText, read_body, read_query
from registry.identity.permissions import Action
from worker.api.documents.runs import RunDoc
from worker.approvals import decide as deciding
from worker.approvals import requests
from worker.core.display_budget import MAX_ROWS
from worker.models import Approval, ApprovalDecision
from worker.run_views.documents import run_document

operation = Operations("runs")
_ROWS_AT_ONCE = 10  # small, because one row can contain thousands of permissions
_STATES = ("waiting", *ApprovalDecision.values, "cancelled")


class ApprovalDoc(Doc):
    run = serializers.CharField(help_text="Id of the run. Post the decision to `/runs/{id}/approval`.")
    skill = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    team = serializers.CharField(
        allow_null=True, help_text="Team whose maintainers decide; null if the run has no team."
    )
    caller = serializers.CharField(allow_null=True)
    token = serializers.CharField(
        allow_null=True,
        help_text="Name of the token that started the run; null if it was started without one.",
    )
    run_status = serializers.CharField(help_text="Status of the run.")
    created_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=_STATES)
    page_url = serializers.URLField(help_text="Page where a maintainer can decide.")
    expires_at = serializers.DateTimeField(help_text="Time at which an undecided run is refused.")
    requested_permissions = serializers.DictField(
        help_text="All permissions that the version requests, by kind."
    )
    added_permissions = serializers.DictField(
        help_text="Requested permissions that no allow rule or canonical version covers."
    )
    omitted_permissions = serializers.IntegerField(
        help_text="Number of requested permissions that this list omits, because it contains at most "
        f"{MAX_ROWS} per kind. Get the approval request to read all."
    )
    unsafe_properties = serializers.ListField(child=serializers.CharField())
    exact_rule = serializers.CharField(
        allow_null=True, help_text="Rule that would allow this skill; null if no rule is possible."
    )
    prefix_rule = serializers.CharField(
        allow_null=True,
        help_text="Rule that would allow all skills whose names start with this prefix; null if no rule "
        "is possible.",
    )
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    rule = serializers.CharField(
        allow_null=True,
        help_text="Id of the rule that decided the request or was created with the decision; null if "
        "there is none.",
    )


class ApprovalsQuery(PageQuery):
    state = serializers.ChoiceField(
        required=False, choices=["waiting", "decided"], help_text="Only requests in this state."
    )
    skill = serializers.CharField(required=False, max_length=130, help_text="`team/slug`.")
    team = serializers.CharField(required=False, max_length=64)


class ApprovalDecisionRequest(Shape):
    decision = serializers.ChoiceField(choices=[choice.value for choice in deciding.DECISIONS])
    reason = StrictText(required=False, allow_blank=True, max_length=deciding.MAX_REASON)
    create_rule = StrictBoolean(
        default=False, help_text="With `denied`: also create a rule that denies the skill."
    )


class Approvals(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN)}
    requires_sign_in = True

    @operation(
        "list_approvals", "List approval requests", query=ApprovalsQuery, answer=page_schema(ApprovalDoc)
    )
    def get(self, request: Request) -> HttpResponse:
        """Lists approval requests of your runs and your teams' runs, newest first; administrators get all."""
        query = read_query(ApprovalsQuery, request)
        rows = requests.approvals(self.actor)
        keys = requests.filter_approvals(Approval.objects.visible_to(self.actor), query).only("pk")
        found, cursor = pagination.last_first(keys, pagination.read_page("approvals", query, kinds=(int,)))
        page = rows.filter(pk__in=[each.pk for each in found]).order_by("-pk")
        names = requests.exact_rule_names(found, self.actor)
        items = [
            requests.approval_row(approval, self.actor, names=names, max_names=MAX_ROWS)
            for approval in page.iterator(chunk_size=_ROWS_AT_ONCE)
        ]
        return etag.document_response(request, page_document(items, cursor))


class Decide(Endpoint):
    required_actions = {"GET": (Action.READ_RUNS, Action.RUN), "POST": (Action.SEE,)}
    requires_sign_in = True

    @operation("get_approval", "Get the approval request of a run", answer=ApprovalDoc)
    def get(self, request: Request, uid: str) -> HttpResponse:
        """Returns the requested permissions and the decision. Returns 404 if the run needed no approval."""
        return etag.document_response(
            request, requests.approval_row(requests.find(uid, self.actor), self.actor)
        )

    @operation(
        "decide_approval", "Approve or deny a waiting run", body=ApprovalDecisionRequest, answer=RunDoc
    )
    @idempotent()
    def post(self, request: Request, uid: str) -> HttpResponse:
        """Approves or denies the run. Maintainers can send `once`, or `denied` with a reason. Owners and
        administrators can also send `exact` or `prefix`: this creates a rule and starts every waiting run
        that the rule covers. If two people decide at the same time, the first decision applies. Requires a
        session.
        """
        # Looked up before the body is read, so that a stranger gets only a 404.
        approval = requests.find(uid, self.actor)
        decision = read_body(ApprovalDecisionRequest, request.data)
        run = deciding.decide(
            approval,
            ApprovalDecision(decision["decision"]),
            self.actor,
            reason=decision.get("reason", ""),
            rule=decision["create_rule"],
        )
        return etag.document_response(request, run_document(run, actor=self.actor))
