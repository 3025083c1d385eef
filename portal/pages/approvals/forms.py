"""Forms of approval requests: filters and the decision."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.filter_form import FilterForm
from portal.forms.suggestions import suggest
from worker.approvals.decide import DECISIONS, MAX_REASON
from worker.models import ApprovalDecision, ApprovalQuerySet

MAX_READ = 500  # newest requests whose skills and teams the filters suggest
_IN_BULK = (ApprovalDecision.ONCE, ApprovalDecision.EXACT, ApprovalDecision.DENIED)


class ApprovalFilter(FilterForm):
    """The filters of the lists of waiting and decided requests."""

    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    team = forms.CharField(label=_("Team"), required=False, max_length=64)

    def suggest_values(self, approvals: ApprovalQuerySet) -> None:
        """Suggests the skills and teams of the newest requests."""
        newest = approvals.order_by("-pk").values_list("run__skill_label", "run__team__slug")[:MAX_READ]
        pairs = list(newest)
        suggest(self, "skill", (skill for skill, _team in pairs))
        suggest(self, "team", (team for _skill, team in pairs if team))


class ApprovalDecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in DECISIONS])
    reason = forms.CharField(required=False, max_length=MAX_REASON)
    rule = forms.BooleanField(required=False)


class BulkDecisionForm(ApprovalDecisionForm):
    decision = forms.ChoiceField(choices=[(choice.value, choice.label) for choice in _IN_BULK])
