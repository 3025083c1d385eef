"""Text inputs with suggestions, and the filter by a skill's name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

MAX_SUGGESTIONS = 100


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
