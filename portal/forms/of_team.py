from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from registry.models import Team


class OfTeam(forms.Form):
    """A form that asks whose it is, of the teams that the actor may do it for."""

    team = forms.ModelChoiceField(
        label=_("Team"), queryset=Team.objects.none(), empty_label=None, to_field_name="slug"
    )
    use_required_attribute = False

    def __init__(self, *args: Any, teams: QuerySet[Team], **more: Any) -> None:
        super().__init__(*args, **more)
        self.team_field.queryset = teams

    @property
    def team_field(self) -> forms.ModelChoiceField[Team]:
        team = self.fields["team"]
        assert isinstance(team, forms.ModelChoiceField)
        return team
