from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import ReportReason
from registry.reporting import LONGEST


class ReportForm(forms.Form):
    reason = forms.ChoiceField(
        label=_("What is wrong with it"), choices=ReportReason.choices, widget=forms.RadioSelect
    )
    text = forms.CharField(
        label=_("Say more"),
        required=False,
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("The team's maintainers and the site's administrators read it, with your name."),
    )


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[("dismiss", _("Dismiss")), ("uphold", _("Uphold"))])
    reason = forms.CharField(
        label=_("Reason"), max_length=500, help_text=_("It is kept and shown, with your name.")
    )
