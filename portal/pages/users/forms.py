"""Forms of users and invitations."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.long_select import LongSelect
from registry.accounts.invitations import DEFAULT_DAYS
from registry.accounts.users import MAX_NAME
from registry.models import Role, Team

DAYS = ((1, _("1 day")), (DEFAULT_DAYS, _("7 days")), (30, _("30 days")))
STATES = (("", _("All users")), ("active", _("Active")), ("inactive", _("Inactive")))


class UserFilterForm(forms.Form):
    q = forms.CharField(label=_("Name or e-mail address"), required=False, max_length=MAX_NAME)
    state = forms.ChoiceField(label=_("State"), required=False, choices=STATES)


class InviteForm(forms.Form):
    email = forms.EmailField(label=_("E-mail address"), required=False)
    team = forms.ModelChoiceField(
        label=_("Team"),
        queryset=Team.objects.order_by("slug").only("slug"),
        required=False,
        empty_label=_("No team"),
        to_field_name="slug",
        widget=LongSelect,
    )
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices, initial=Role.MEMBER)
    days = forms.TypedChoiceField(label=_("Expires after"), choices=DAYS, coerce=int, initial=DEFAULT_DAYS)


class UserForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=MAX_NAME)
    email = forms.EmailField(label=_("E-mail address"), required=False)
    is_administrator = forms.BooleanField(label=_("Administrator of this site"), required=False)


class JoinForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=MAX_NAME)
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("At least 8 characters that are hard to guess."),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["username"].widget.attrs["autocomplete"] = "username"
