"""Forms of the agent listing: its options, subscriptions and bundled skills."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.paths import PathsForm
from registry.listing.list_skills import CONTEXT_TOKENS
from registry.listing.selection import MAX_PLACES


class ListingForm(PathsForm):
    context_tokens = forms.IntegerField(
        label=_("Context window (tokens)"),
        min_value=0,
        max_value=100_000_000,
        initial=CONTEXT_TOKENS,
        required=False,
        help_text=_(
            "Default: 200000. The listing uses at most one percent of the context "
            "window, unless always-listed skills need more."
        ),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[
            ("lines", _("Plain text")),
            ("xml", _("XML (<available_skills>)")),
            ("section", _("System prompt section")),
        ],
    )
    limit = forms.IntegerField(
        label=_("Maximum number of skills"),
        min_value=1,
        max_value=MAX_PLACES,
        required=False,
        help_text=_("The default for the format “System prompt section” is 40 skills."),
    )
    field_order = ("context_tokens", "format", "limit", "paths")
    use_required_attribute = False

    def clean_context_tokens(self) -> int:
        given = self.cleaned_data["context_tokens"]
        return CONTEXT_TOKENS if given is None else int(given)

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or "lines"


class TeamSubscriptionForm(forms.Form):
    team = forms.CharField(
        label=_("Team"), max_length=64, help_text=_("The team's short name, as used in addresses.")
    )


class BundleForm(forms.Form):
    skill = forms.CharField(label=_("Skill"), max_length=130, help_text=_("Format: team/skill."))
