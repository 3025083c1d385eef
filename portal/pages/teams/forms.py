"""Forms for teams, their settings and their members."""

from typing import Self

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.accounts.invitations import DEFAULT_DAYS
from registry.accounts.service_accounts import ROLES
from registry.models import MemoryReview, Role, RunReaders, Team, User, UserKind


class TeamForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=64,
        help_text=_(
            "Part of all addresses of the team. Lowercase letters, digits and hyphens (not "
            "two in a row). You can't change it later."
        ),
    )


class TeamSettingsForm(forms.Form):
    languages = forms.MultipleChoiceField(
        label=_("Languages"),
        choices=(("en", _("English")), ("zh", _("Chinese"))),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_(
            "Languages of the people who use the team's skills. Publishing shows a "
            "notice if a skill has no trigger phrases in one of them."
        ),
    )
    failing_triggers_block = forms.BooleanField(
        label=_("Block publishing when trigger tests fail"), required=False
    )
    memory_review = forms.ChoiceField(
        label=_("Proposed memories that need review"),
        choices=MemoryReview.choices,
        widget=forms.RadioSelect,
        required=False,
        help_text=_("Memories for any other user or team always need a review by that user or team."),
    )

    run_readers = forms.ChoiceField(
        label=_("Access to the team's runs"),
        choices=RunReaders.choices,
        widget=forms.RadioSelect,
        required=False,
        help_text=_("Inputs, log, result and files of runs that members start for this team."),
    )
    share_links = forms.BooleanField(
        label=_("Allow links that share a run with anyone"),
        required=False,
        help_text=_("If you turn this off, existing links stop working."),
    )

    @classmethod
    def of(cls, team: Team) -> Self:
        """The unbound form with the team's current settings."""
        return cls(initial={name: getattr(team, name) for name in cls.base_fields})

    def clean_memory_review(self) -> str | None:
        """The submitted value; None keeps the current setting."""
        return self.cleaned_data["memory_review"] or None

    def clean_run_readers(self) -> str | None:
        """The submitted value; None keeps the current setting."""
        return self.cleaned_data["run_readers"] or None


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)


class MemberForm(RoleForm):
    user = forms.CharField(label=_("User name"), max_length=150)

    field_order = ("user", "role")

    def clean_user(self) -> User:
        name = self.cleaned_data["user"]
        user = User.objects.filter(username=name, is_active=True, kind=UserKind.PERSON).first()
        if user is None:
            raise forms.ValidationError(
                _("User %(name)s was not found. Check the user name."), params={"name": name}
            )
        return user


class TeamInvitationForm(RoleForm):
    days = forms.TypedChoiceField(
        label=_("Expires after"),
        choices=((1, _("1 day")), (DEFAULT_DAYS, _("7 days")), (30, _("30 days"))),
        coerce=int,
        initial=DEFAULT_DAYS,
    )


class ServiceRoleForm(forms.Form):
    role = forms.ChoiceField(
        label=_("Role"), choices=[(role.value, role.label) for role in ROLES], initial=Role.MEMBER
    )


class ServiceAccountForm(ServiceRoleForm):
    name = forms.CharField(
        label=_("Name"),
        max_length=64,
        help_text=_(
            "Lowercase letters, digits and hyphens (not two in a row). In the team acme, “ci” "
            "becomes “acme-ci”."
        ),
    )

    field_order = ("name", "role")
