from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Case, Q, QuerySet, When
from django.utils.translation import gettext_lazy as _

from portal.forms.long_select import LongSelect
from portal.forms.suggestions import MAX_SUGGESTIONS, SuggestionInput
from registry.identity.actors import Actor
from registry.identity.permissions import Action, active_teams_where
from registry.models import Team

MAX_LISTED_TEAMS = 200
BUNDLED_TEAMS = ("examples", "skillquay")  # set_up creates them for the skills that come with Skillquay
_BUNDLED_LAST = Case(When(slug__in=BUNDLED_TEAMS, then=1), default=0)


def publishing_teams(actor: Actor) -> QuerySet[Team]:
    """The teams for which the actor may publish; teams of bundled skills come last, so that no form
    preselects them.
    """
    return active_teams_where(actor, Action.PUBLISH).order_by(_BUNDLED_LAST, "slug")


def has_team_to_publish(teams: QuerySet[Team], chosen: str = "") -> bool:
    """Whether ``teams`` contains the team with the slug ``chosen`` or any team that is not for bundled
    skills.
    """
    return teams.filter(~Q(slug__in=BUNDLED_TEAMS) | Q(slug=chosen)).exists()


class TeamChoiceForm(forms.Form):
    """A form with a required choice among ``teams``; views pass the teams for which the actor may act.

    More than ``MAX_LISTED_TEAMS`` are not listed: a text input suggests the first ones.
    """

    team = forms.ModelChoiceField(
        label=_("Team"),
        queryset=Team.objects.none(),
        empty_label=None,
        to_field_name="slug",
        widget=LongSelect,
        error_messages={
            "invalid_choice": _("There is no team “%(value)s”, or you are not allowed to choose it here.")
        },
    )
    use_required_attribute = False

    def __init__(self, *args: Any, teams: QuerySet[Team], **more: Any) -> None:
        super().__init__(*args, **more)
        self.team_field.queryset = teams
        # Read once: Django would read the choices again each time that it draws or examines the field.
        slugs = list(teams.values_list("slug", flat=True)[: MAX_LISTED_TEAMS + 1])
        if len(slugs) > MAX_LISTED_TEAMS:
            self.team_field.widget = SuggestionInput(slugs[:MAX_SUGGESTIONS])
        self.team_field.choices = [(slug, slug) for slug in slugs]

    @property
    def team_field(self) -> forms.ModelChoiceField[Team]:
        team = self.fields["team"]
        assert isinstance(team, forms.ModelChoiceField)
        return team
