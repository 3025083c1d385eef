"""Forms to create and rotate access tokens."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from registry.device_logins.logins import GRANTABLE
from registry.models import Scope, Team, User

DAYS = ((7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("1 year")))


OVERLAPS = (
    (0, _("Stops at once")),
    (1, _("Valid for 1 hour")),
    (24, _("Valid for 24 hours")),
    (168, _("Valid for 7 days")),
)


class TokenRotationForm(forms.Form):
    overlap_hours = forms.TypedChoiceField(
        label=_("Current secret"), choices=OVERLAPS, coerce=int, initial=24, widget=forms.RadioSelect
    )


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("Name the agent or script that uses this token, so that you know which one to revoke."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=[Scope.READ]
    )
    expires_at = forms.TypedChoiceField(
        label=_("Expires after"), choices=DAYS, coerce=int, initial=30, widget=forms.RadioSelect
    )
    team = forms.ModelChoiceField(
        label=_("Limit to team"),
        queryset=Team.objects.none(),
        required=False,
        empty_label=_("All my teams"),
        to_field_name="slug",
    )

    def __init__(self, data: Any = None, *, owner: User, only: Team | None = None) -> None:
        """Omits the team field if ``only``, the team of a service account, is given."""
        super().__init__(data)
        self.only = only
        if only:
            del self.fields["team"]
            return
        teams = self.fields["team"]
        assert isinstance(teams, forms.ModelChoiceField)
        teams.queryset = Team.objects.filter(memberships__user=owner).order_by("slug")

    @property
    def chosen_team(self) -> Team | None:
        team: Team | None = self.only or self.cleaned_data["team"]
        return team

    @property
    def expiry(self) -> datetime:
        return timezone.now() + timedelta(days=self.cleaned_data["expires_at"])


class DeviceCodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "BCDF-GHJK"}
        ),
        help_text=_("The client shows the code after you start the login."),
    )


class DeviceGrantForm(TokenForm):
    """The properties of the token that a client gets after the user has confirmed its code."""

    code = forms.CharField(max_length=20, widget=forms.HiddenInput)
    field_order = ("code", "scopes", "expires_at", "team")

    def __init__(self, data: Any = None, *, owner: User, code: str) -> None:
        super().__init__(data, owner=owner)
        del self.fields["name"]
        self.initial["code"] = code
        scopes = self.fields["scopes"]
        assert isinstance(scopes, forms.MultipleChoiceField)
        scopes.choices = [(scope.value, scope.label) for scope in GRANTABLE]
        scopes.initial = [Scope.READ, Scope.PUBLISH]
