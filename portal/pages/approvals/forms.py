"""Forms of approval requests: filters and the decision."""

from django import forms
from django.utils.translation import gettext_lazy as _

from worker.approvals.decide import DECISIONS, MAX_REASON
from worker.models import ApprovalDecision

_IN_BULK = (ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.DENIED)


class ApprovalFilter(forms.Form):
    """The filters of the lists of waiting and decided requests, which are part of the URL."""

    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    team = forms.CharField(label=_("Team"), required=False, max_length=64)
    use_required_attribute = False

    @property
    def is_set(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


class ApprovalDecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in DECISIONS])
    reason = forms.CharField(required=False, max_length=MAX_REASON)
    rule = forms.BooleanField(required=False)


class BulkDecisionForm(ApprovalDecisionForm):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in _IN_BULK])
