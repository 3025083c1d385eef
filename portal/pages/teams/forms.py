"""Forms of teams and their members."""

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import MemoryReview, Role, User


class TeamForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=64,
        help_text=_(
            "Part of every address: lowercase letters, digits and single hyphens; can't be changed later."
        ),
    )


class TeamSettingsForm(forms.Form):
    languages = forms.MultipleChoiceField(
        label=_("Languages"),
        choices=(("en", _("English")), ("zh", _("Chinese"))),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Languages that users of the team's skills speak; publishing hints at missing phrases."),
    )
    failing_triggers_block = forms.BooleanField(
        label=_("Block publishing when trigger tests fail"), required=False
    )
    memory_review = forms.ChoiceField(
        label=_("Proposed memory that needs review"),
        choices=MemoryReview.choices,
        widget=forms.RadioSelect,
        required=False,
        help_text=_(
            "Applies to memory that this team's runs propose; memory for others always needs their decision."
        ),
    )

    def clean_memory_review(self) -> str | None:
        """None for an empty value, which leaves the setting unchanged."""
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
            raise forms.ValidationError(_("User %(name)s not found."), params={"name": name})
        return user
