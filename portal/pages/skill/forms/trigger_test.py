from django import forms
from django.utils.translation import gettext_lazy as _

from registry.matching.feedback import MAX_UTTERANCE_CHARACTERS


class TriggerTestForm(forms.Form):
    utterance = forms.CharField(
        label=_("User request"), max_length=MAX_UTTERANCE_CHARACTERS, widget=forms.TextInput
    )
    must_match = forms.TypedChoiceField(
        label=_("Expected result"),
        coerce=lambda value: value == "yes",
        choices=[("yes", _("Must match")), ("no", _("Must not match"))],
        initial="yes",
        widget=forms.RadioSelect,
    )
