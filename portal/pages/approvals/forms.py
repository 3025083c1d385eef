"""Forms of approval requests: filters and the decision."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.filter_form import FilterForm
from worker.approvals.decide import DECISIONS, MAX_REASON
from worker.models import ApprovalDecision

_IN_BULK = (ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.DENIED)


class ApprovalFilter(FilterForm):
    """The filters of the lists of waiting and decided requests."""

    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    team = forms.CharField(label=_("Team"), required=False, max_length=64)


class ApprovalDecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in DECISIONS])
    reason = forms.CharField(required=False, max_length=MAX_REASON)
    rule = forms.BooleanField(required=False)


class BulkDecisionForm(ApprovalDecisionForm):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in _IN_BULK])
