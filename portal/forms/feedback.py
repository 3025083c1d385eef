from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.feedback import LONGEST_UTTERANCE


class TriggerTestForm(forms.Form):
    utterance = forms.CharField(
        label=_("When somebody says"), max_length=LONGEST_UTTERANCE, widget=forms.TextInput
    )
    must_match = forms.TypedChoiceField(
        label=_("This skill"),
        coerce=lambda value: value == "yes",
        choices=[("yes", _("must match")), ("no", _("must not match"))],
        initial="yes",
        widget=forms.RadioSelect,
    )
