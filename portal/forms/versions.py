"""What is done to versions and skills after they are published; reasons are everybody's to read."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import Team, Version


def _reason(hint: object = "") -> forms.CharField:
    return forms.CharField(label=_("Reason"), max_length=500, help_text=hint)  # type: ignore[arg-type]


class YankForm(forms.Form):
    reason = _reason(_("Shown to everybody who pinned it."))


class DeprecateVersionForm(forms.Form):
    reason = _reason(_("What is wrong with it, and what to do instead."))
    successor = forms.CharField(label=_("Version that takes its place"), max_length=64, required=False)


class DeprecateSkillForm(forms.Form):
    reason = _reason(_("Why, and what to do instead."))
    successor = forms.CharField(
        label=_("Skill that takes its place"), max_length=130, required=False, help_text=_("As team/slug.")
    )


class ChannelForm(forms.Form):
    channel = forms.CharField(
        label=_("Channel"),
        max_length=32,
        help_text=_("A word such as stable or beta; it means this version then."),
    )


class ChangelogForm(forms.Form):
    changelog = forms.CharField(
        label=_("Changes"), max_length=20_000, required=False, widget=forms.Textarea(attrs={"rows": 4})
    )


class RenameForm(forms.Form):
    slug = forms.CharField(label=_("New name in addresses"), max_length=64)
    team = forms.ModelChoiceField(label=_("Team"), queryset=Team.objects.none(), to_field_name="slug")


class MergeForm(forms.Form):
    into = forms.CharField(label=_("Skill that takes it in"), max_length=130, help_text=_("As team/slug."))


class PurgeForm(forms.Form):
    """``expected`` is what has to be typed, so that nothing goes for good by a slip."""

    typed = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    reason = _reason(_("It stays on record, with the digest and who did it."))

    def __init__(self, *args: object, expected: str, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.expected = expected
        self.fields["typed"].label = _("Type %(name)s to confirm") % {"name": expected}

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed.strip() != self.expected:
            raise forms.ValidationError(_("This is not %(name)s."), params={"name": self.expected})
        return typed


FORMS: dict[str, type[forms.Form]] = {
    "yank": YankForm,
    "deprecate": DeprecateVersionForm,
    "channel": ChannelForm,
    "changelog": ChangelogForm,
}


def forms_for(version: Version) -> dict[str, forms.Form]:
    """The forms of a version's page, by what each does."""
    initial = {"changelog": {"changelog": version.changelog}}
    return {verb: form(auto_id=f"{verb}-%s", initial=initial.get(verb)) for verb, form in FORMS.items()}
