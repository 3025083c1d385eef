from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"), max_length=500, help_text=_("It is kept and shown, with your name.")
    )
