"""Forms on the page of a team's secrets."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SecretForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=64,
        help_text=_("The environment variable that the script reads, for example API_KEY."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    value = forms.CharField(
        label=_("Value"),
        max_length=32_768,
        strip=False,
        help_text=_("Stored encrypted and never shown again."),
        widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"}),
    )

    def clean_value(self) -> str:
        """The value with LF line endings. Browsers send CRLF, with which some keys can't be parsed."""
        return str(self.cleaned_data["value"]).replace("\r\n", "\n")


class VersionForm(forms.Form):
    """Selects the version whose secrets, grants and review the page shows."""

    skill = forms.CharField(label=_("Skill"), max_length=130, help_text=_("team/skill"))
    version = forms.CharField(
        label=_("Version"), max_length=64, required=False, help_text=_("Leave empty for the latest.")
    )
