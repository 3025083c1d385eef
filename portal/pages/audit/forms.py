"""The filters of the audit log."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.forms.day_input import DayInput
from registry.identity.audit import AuditFilter

_GROUPS = (
    ("", _("All actions")),
    ("skills", _("Skills and versions")),
    ("review", _("Findings and reports")),
    ("people", _("People, teams and tokens")),
    ("permissions", _("Rules, approvals and secrets")),
    ("runs", _("Runs and memory")),
    ("triggers", _("Trigger phrases and tests")),
    ("automation", _("Events and imports")),
    ("site", _("Site and glossary")),
)


class AuditFilterForm(forms.Form):
    person = forms.CharField(label=_("User name"), required=False, max_length=150)
    group = forms.ChoiceField(label=pgettext_lazy("audit", "Action"), required=False, choices=_GROUPS)
    target = forms.CharField(label=_("Affected skill, person or other item"), required=False, max_length=200)
    since = forms.DateField(label=_("Start date"), required=False, widget=DayInput)
    until = forms.DateField(label=_("End date"), required=False, widget=DayInput)

    @property
    def chosen(self) -> AuditFilter | None:
        """The filter; None if a field is invalid."""
        return AuditFilter(**self.cleaned_data) if self.is_valid() else None
