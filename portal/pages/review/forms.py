"""Forms to review findings, report a version and decide a report."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import ReportReason
from registry.review.reports import MAX_TEXT_CHARS


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"), max_length=500, help_text=_("Recorded and shown with your name.")
    )


class ReportForm(forms.Form):
    reason = forms.ChoiceField(label=_("Problem"), choices=ReportReason.choices, widget=forms.RadioSelect)
    text = forms.CharField(
        label=_("Details"),
        required=False,
        max_length=MAX_TEXT_CHARS,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Shown with your name to the team's maintainers and the site's administrators."),
    )


class ReportDecisionForm(ReasonForm):
    decision = forms.ChoiceField(
        choices=[("dismiss", _("Dismiss")), ("uphold", _("Confirm the report and hold the version"))]
    )
