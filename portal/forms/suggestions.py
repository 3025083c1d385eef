"""Text inputs with suggestions, the suggested skills, and the filter by a skill's name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.core.sql import evaluate
from registry.identity.actors import Actor
from registry.models import Skill

MAX_SUGGESTIONS = 60  # each needs 45 bytes of the page
_MAX_TEAMS = 10


class SuggestionInput(forms.TextInput):
    """A text input with a ``<datalist>`` of suggestions: values, each with a label that can be ""."""

    template_name = "components/suggesting_input.html"

    def __init__(self, suggestions: Iterable[str | tuple[str, str]], **attrs: Any) -> None:
        super().__init__(attrs={"autocomplete": "off", **attrs})
        self.suggestions = [(each, "") if isinstance(each, str) else each for each in suggestions]

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["widget"]["suggestions"] = self.suggestions
        context["widget"]["attrs"]["list"] = f"{name}-list"
        return context


def suggest(form: forms.BaseForm, name: str, values: Iterable[str | tuple[str, str]]) -> None:
    """Makes the form's text field ``name`` suggest at most ``MAX_SUGGESTIONS`` values, each once."""
    field = form.fields[name]
    field.widget = SuggestionInput(list(dict.fromkeys(values))[:MAX_SUGGESTIONS], **field.widget.attrs)


def visible_skills(actor: Actor) -> list[str]:
    """Addresses of skills to suggest: the newest of the actor's teams, then the newest of others."""
    rows = Skill.objects.discoverable_by(actor).order_by("-pk").values_list("pk", "team__slug", "slug")
    of_teams = [rows.filter(team_id=key)[:MAX_SUGGESTIONS] for key in sorted(actor.team_ids)[:_MAX_TEAMS]]
    evaluate(*of_teams)  # each along an index; of all teams together, all skills would be sorted
    own = sorted((row for of_team in of_teams for row in of_team), reverse=True)[:MAX_SUGGESTIONS]
    others = [] if len(own) == MAX_SUGGESTIONS else rows[:MAX_SUGGESTIONS]
    return [f"{team}/{slug}" for _key, team, slug in dict.fromkeys([*own, *others])]


def teams_of(skills: Iterable[str]) -> list[str]:
    """The teams of the addresses, each once, in their order."""
    return list(dict.fromkeys(skill.partition("/")[0] for skill in skills))


class SkillFilterField(forms.CharField):
    """A part of a skill's name, or its address ``team/slug``, as a filter of a list."""

    def __init__(self) -> None:
        super().__init__(label=_("Skill"), required=False, max_length=130)
        self.suggest(())

    def suggest(self, skills: Iterable[str | tuple[str, str]]) -> None:
        """Suggests at most ``MAX_SUGGESTIONS`` addresses, each once."""
        found = list(dict.fromkeys(skills))[:MAX_SUGGESTIONS]
        self.widget = SuggestionInput(found, placeholder=_("Part of a name"))


def skill_criterion(text: str) -> dict[str, str]:
    """The filter that the text of a ``SkillFilterField`` means: ``skill``, ``skill_contains`` or none."""
    if not text:
        return {}
    return {"skill" if "/" in text else "skill_contains": text}
