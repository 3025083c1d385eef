"""Forms that change published versions and skills. Reasons are shown to everyone who sees the skill."""

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.team_choice import TeamChoiceForm
from registry.models import Version, Visibility


def _reason(hint: object = "") -> forms.CharField:
    return forms.CharField(label=_("Reason"), max_length=500, help_text=hint)  # type: ignore[arg-type]


VISIBILITIES = (
    (Visibility.PRIVATE, _("Private: team members only")),
    (Visibility.SITE, _("Site: all signed-in users")),
    (Visibility.PUBLIC, _("Public: anyone who can reach this site")),
)


class VisibilityForm(forms.Form):
    visibility = forms.ChoiceField(label=_("Visibility"), choices=VISIBILITIES, widget=forms.RadioSelect)


class YankForm(forms.Form):
    reason = _reason(_("Shown to everyone who can see this version."))


class DeprecateVersionForm(forms.Form):
    reason = _reason(_("Describe the problem and the alternative."))
    successor = forms.CharField(label=_("Replacement version"), max_length=64, required=False)


class DeprecateSkillForm(forms.Form):
    reason = _reason(_("The reason, and what to use instead."))
    successor = forms.CharField(
        label=_("Replacement skill"), max_length=130, required=False, help_text=_("Format: team/skill.")
    )


class ChannelForm(forms.Form):
    channel = forms.CharField(
        label=_("Channel"),
        max_length=32,
        help_text=_("A name such as stable or beta; it will point to this version."),
    )


class ChangelogForm(forms.Form):
    changelog = forms.CharField(
        label=_("Changelog"), max_length=20_000, required=False, widget=forms.Textarea(attrs={"rows": 4})
    )


class RenameForm(TeamChoiceForm):
    slug = forms.CharField(label=_("New short name"), max_length=64)
    field_order = ("slug", "team")


class MergeForm(forms.Form):
    into = forms.CharField(label=_("Merge into"), max_length=130, help_text=_("Format: team/skill."))


class PurgeForm(forms.Form):
    """A form that is valid only if the user typed the text ``expected``, so that nothing is purged by
    accident.
    """

    confirmation = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    reason = _reason(_("The reason is recorded with the version's digest and your name."))

    def __init__(self, *args: object, expected: str, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.expected = expected
        self.fields["confirmation"].label = _("Type %(name)s to confirm") % {"name": expected}

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"]
        if typed.strip() != self.expected:
            raise forms.ValidationError(
                _("The text does not match. Type %(name)s exactly."), params={"name": self.expected}
            )
        return typed


FORMS: dict[str, type[forms.Form]] = {
    "yank": YankForm,
    "deprecate": DeprecateVersionForm,
    "channel": ChannelForm,
    "changelog": ChangelogForm,
}


def forms_for(version: Version) -> dict[str, forms.Form]:
    """The unbound forms on a version's page, by verb."""
    initial = {"changelog": {"changelog": version.changelog}}
    return {verb: form(auto_id=f"{verb}-%s", initial=initial.get(verb)) for verb, form in FORMS.items()}
