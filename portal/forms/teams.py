"""The forms of teams and their members."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import MemoryReview, Role, User


class TeamForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=64,
        help_text=_("Part of every address: small letters, digits and single hyphens. It never changes."),
    )


class TeamSettingsForm(forms.Form):
    languages = forms.MultipleChoiceField(
        label=_("Languages"),
        choices=(("en", _("English")), ("zh", _("Chinese"))),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("In which the team's skills are asked for. Publishing hints where a phrase is missing."),
    )
    failing_triggers_block = forms.BooleanField(
        label=_("Failing trigger tests keep a version from being published"), required=False
    )
    memory_review = forms.ChoiceField(
        label=_("Proposed memory that somebody looks at first"),
        choices=MemoryReview.choices,
        widget=forms.RadioSelect,
        required=False,
        help_text=_("What runs for this team propose to remember. What is for others always waits for them."),
    )

    def clean_memory_review(self) -> str | None:
        """What is not said stays as it is."""
        return self.cleaned_data["memory_review"] or None


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)


class MemberForm(RoleForm):
    user = forms.CharField(label=_("User name"), max_length=150)

    field_order = ("user", "role")

    def clean_user(self) -> User:
        name = self.cleaned_data["user"]
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise forms.ValidationError(_("There is no user %(name)s."), params={"name": name})
        return user
