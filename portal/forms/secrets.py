"""The forms of a team's secrets."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class SecretForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=64,
        help_text=_("As the script reads it from its environment: API_KEY."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    value = forms.CharField(
        label=_("Value"),
        max_length=32_768,
        strip=False,
        help_text=_("It is kept encrypted and never shown again."),
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_value(self) -> str:
        """Line ends as scripts expect them: a form sends others, which some keys are not read with."""
        return str(self.cleaned_data["value"]).replace("\r\n", "\n")


class OfVersionForm(forms.Form):
    """Names the version that a grant or a review is about."""

    skill = forms.CharField(label=_("Skill"), max_length=130, help_text=_("team/slug"))
    version = forms.CharField(
        label=_("Version"), max_length=64, required=False, help_text=_("Empty: the latest.")
    )
