"""The filter of the list of error groups, and the forms of one group."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Membership, Team
from worker.failures.groups import GroupFilter
from worker.models import ErrorGroup, ErrorGroupState

_MAX_VERSIONS = 50


class GroupFilterForm(forms.Form):
    state = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("Any state")), *ErrorGroupState.choices]
    )
    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    team = forms.ChoiceField(label=_("Team"), required=False)
    mine = forms.BooleanField(label=_("Assigned to me"), required=False)
    use_required_attribute = False

    def __init__(self, data: QueryDict, actor: Actor) -> None:
        super().__init__(data)
        teams = Team.objects.filter(pk__in=actor.team_ids).order_by("slug").values_list("slug", flat=True)
        chosen = data.get("team", "")[:64]
        slugs = sorted({*teams, *([chosen] if chosen else [])})
        self.fields["team"].choices = [("", _("All")), *((slug, slug) for slug in slugs)]  # type: ignore[attr-defined]

    def chosen(self) -> GroupFilter:
        """The valid filters; invalid ones are ignored."""
        self.is_valid()
        given = self.cleaned_data
        return GroupFilter(
            skill=given.get("skill", ""),
            team=given.get("team", ""),
            state=given.get("state", ""),
            assigned_to_me=given.get("mine", False),
        )

    @property
    def is_set(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


@reader
def version_numbers(group: ErrorGroup) -> Reads[Sequence[str]]:
    """The numbers of the skill's newest versions, highest first."""
    versions = group.skill.versions.order_by("-precedence")
    yield (numbers := versions.values_list("number", flat=True)[:_MAX_VERSIONS])
    return list(numbers)


@reader
def assignees(group: ErrorGroup) -> Reads[Sequence[str]]:
    """The names of the active members of the skill's team."""
    members = Membership.objects.filter(team=group.skill.team_id, user__is_active=True)
    yield (names := members.order_by("user__username").values_list("user__username", flat=True))
    return list(names)
