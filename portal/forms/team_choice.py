from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import Team


def publishing_teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may publish."""
    visible = Team.objects.visible_to(actor).order_by("slug")
    return visible.filter(pk__in=[team.pk for team in visible if may(actor, Action.PUBLISH, team=team)])


class TeamChoiceForm(forms.Form):
    """A form with a choice of ``teams``, the teams for which the actor may act."""

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
