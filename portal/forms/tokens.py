"""The form of a new access token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from registry.models import Scope, Team, User

DAYS = ((7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("A year")))


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("What uses it, so that you know later which one to revoke."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple, initial=[Scope.READ]
    )
    expires_at = forms.TypedChoiceField(
        label=_("It ends after"), choices=DAYS, coerce=int, initial=30, widget=forms.RadioSelect
    )
    team = forms.ModelChoiceField(
        label=_("Only for the team"),
        queryset=Team.objects.none(),
        required=False,
        empty_label=_("All my teams"),
        to_field_name="slug",
    )

    def __init__(self, data: Any = None, *, owner: User) -> None:
        super().__init__(data)
        teams = self.fields["team"]
        assert isinstance(teams, forms.ModelChoiceField)
        teams.queryset = Team.objects.filter(memberships__user=owner).order_by("slug")

    @property
    def ends(self) -> datetime:
        return timezone.now() + timedelta(days=self.cleaned_data["expires_at"])
