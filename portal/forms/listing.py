"""For which agent a listing is shown, and whose skills it may hold."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.paths import ForPaths
from registry.listing import CONTEXT_TOKENS
from registry.listing.choosing import MOST


class ListingForm(ForPaths):
    context_tokens = forms.IntegerField(
        label=_("Context window, in tokens"),
        min_value=0,
        max_value=100_000_000,
        initial=CONTEXT_TOKENS,
        required=False,
        help_text=_("A hundredth of it is for the listing; 200000 where nothing is said."),
    )
    form = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[
            ("lines", _("Plain lines")),
            ("xml", _("<available_skills> of the open format")),
            ("section", _("A section of a system prompt")),
        ],
    )
    limit = forms.IntegerField(
        label=_("At most"), min_value=1, max_value=MOST, required=False, help_text=_("40 in a section.")
    )
    field_order = ("context_tokens", "form", "limit", "paths")
    use_required_attribute = False

    def clean_context_tokens(self) -> int:
        given = self.cleaned_data["context_tokens"]
        return CONTEXT_TOKENS if given is None else int(given)

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or "lines"


class SubscriptionForm(forms.Form):
    team = forms.CharField(
        label=_("Team"), max_length=64, help_text=_("Its short name, as it stands in addresses.")
    )


class BundleForm(forms.Form):
    skill = forms.CharField(label=_("Skill"), max_length=130, help_text=_("As team/skill."))
