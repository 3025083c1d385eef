"""For which agent a listing is shown, and whose skills it may hold."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.listing import CONTEXT_TOKENS
from registry.listing.choosing import MOST

_MOST_CHARACTERS = 4000  # an address has to hold them


class ListingForm(forms.Form):
    context_tokens = forms.IntegerField(
        label=_("Context window, in tokens"),
        min_value=0,
        max_value=100_000_000,
        initial=CONTEXT_TOKENS,
        required=False,
        help_text=_("A hundredth of it is for the listing; 200000 where nothing is said."),
    )
    form = forms.ChoiceField(
        label=_("Form"),
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
    paths = forms.CharField(
        label=_("Files that are worked on"),
        required=False,
        max_length=_MOST_CHARACTERS,
        help_text=_("One path a line. Skills for certain files appear only where one of theirs is named."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows code"}),
    )
    use_required_attribute = False

    def clean_context_tokens(self) -> int:
        given = self.cleaned_data["context_tokens"]
        return CONTEXT_TOKENS if given is None else int(given)

    def clean_form(self) -> str:
        return self.cleaned_data["form"] or "lines"

    def clean_paths(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.cleaned_data["paths"].splitlines() if line.strip())


class SubscriptionForm(forms.Form):
    team = forms.CharField(
        label=_("Team"), max_length=64, help_text=_("Its short name, as it stands in addresses.")
    )


class BundleForm(forms.Form):
    skill = forms.CharField(label=_("Skill"), max_length=130, help_text=_("As team/skill."))
