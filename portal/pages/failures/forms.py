"""The filter of the list of error groups, and the forms of one group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from portal.forms.filter_form import FilterForm
from portal.forms.suggestions import MAX_SUGGESTIONS, SkillFilterField, skill_criterion
from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Membership, Team
from registry.packages.version_numbers import next_patch, parse, precedence
from worker.failures.groups import CountRow, GroupFilter
from worker.models import ErrorGroup, ErrorGroupState

_MAX_VERSIONS = 50
_MAX_ASSIGNEES = 500


class GroupFilterForm(FilterForm):
    state = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("Any state")), *ErrorGroupState.choices]
    )
    skill = SkillFilterField()
    team = forms.ChoiceField(label=_("Team"), required=False)
    mine = forms.BooleanField(label=_("Assigned to me"), required=False)

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
            **skill_criterion(given.get("skill", "")),
            team=given.get("team", ""),
            state=given.get("state", ""),
            assigned_to_me=given.get("mine", False),
        )

    def suggest_skills(self, groups: Iterable[ErrorGroup], actor: Actor) -> Reads[None]:
        """Suggests the skills of ``groups``, and those of the newest groups of the actor's teams."""
        names = ("skill__team__slug", "skill__slug")
        newest = ErrorGroup.objects.filter(skill__team_id__in=actor.team_ids).order_by("-last_seen", "-uid")
        yield (own := newest.values_list(*names)[: 5 * MAX_SUGGESTIONS])
        suggested = [*(str(group.skill) for group in groups), *(f"{team}/{slug}" for team, slug in own)]
        self.fields["skill"].suggest(suggested)  # type: ignore[attr-defined]


@reader
def version_numbers(group: ErrorGroup) -> Reads[Sequence[str]]:
    """The numbers of the skill's newest versions, highest first."""
    versions = group.skill.versions.order_by("-precedence")
    yield (numbers := versions.values_list("number", flat=True)[:_MAX_VERSIONS])
    return list(numbers)


def version_to_resolve(numbers: Sequence[str], failing: Iterable[CountRow]) -> str:
    """The version that probably resolves a group: the highest of ``numbers`` if it is higher than all failing
    versions, otherwise the next patch after these; "" without versions.
    """
    highest = next(iter(numbers), "")
    failed = [row.name for row in failing if parse(row.name)]
    if not failed:
        return highest
    last = max(failed, key=precedence)
    return highest if highest and precedence(highest) > precedence(last) else next_patch(last)


@reader
def assignees(groups: Iterable[ErrorGroup]) -> Reads[Sequence[str]]:
    """The names of the active members of the teams of the groups' skills."""
    teams = {group.skill.team_id for group in groups}
    members = Membership.objects.filter(team__in=teams, user__is_active=True)
    names = members.order_by("user__username").values_list("user__username", flat=True).distinct()
    yield (listed := names[:_MAX_ASSIGNEES])
    return list(listed)
