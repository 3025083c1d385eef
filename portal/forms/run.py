"""What a run is asked for beside its inputs: which script or action, for which team, with what on stdin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from registry.models import Team


class SuggestingInput(forms.TextInput):
    """Free text with suggestions."""

    template_name = "run/suggesting_input.html"

    def __init__(self, suggestions: Sequence[str]) -> None:
        super().__init__(attrs={"autocomplete": "off"})
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["widget"]["suggestions"] = self.suggestions
        context["widget"]["attrs"]["list"] = f"{name}-list"
        return context


class AskForm(forms.Form):
    """Only what there is a choice of becomes a field."""

    use_required_attribute = False

    def __init__(
        self,
        *,
        scripts: Sequence[str] = (),
        actions: Sequence[str] = (),
        declared: Sequence[str] = (),
        needs_action: bool = False,
        teams: QuerySet[Team],
        stdin: bool = False,
        cacheable: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        if scripts:
            self.fields["script"] = forms.ChoiceField(
                label=_("Script"), choices=[("", _("Choose a script")), *((name, name) for name in scripts)]
            )
        if actions:
            self.fields["action"] = forms.CharField(
                label=_("Action"),
                max_length=200,
                required=needs_action,
                widget=SuggestingInput(actions),
                help_text=_("Such as %(names)s; or another that the skill knows.")
                % {"names": ", ".join((declared or actions)[:8])},
            )
        if stdin:
            self.fields["stdin"] = forms.CharField(
                label=_("Standard input"),
                required=False,
                strip=False,
                widget=forms.Textarea(attrs={"rows": 2, "class": "code grows", "spellcheck": "false"}),
            )
        if len(teams) > 1:
            self.fields["team"] = forms.ModelChoiceField(
                label=_("For team"),
                queryset=teams,
                to_field_name="slug",
                empty_label=None,
                help_text=_("The run belongs to this team; its maintainers may read it."),
            )
        self.fields["debug"] = forms.BooleanField(
            label=_("Debug"), required=False, help_text=_("Sets SKILL_DEBUG=1, so that the script logs more.")
        )
        if cacheable:
            self.fields["fresh"] = forms.BooleanField(
                label=_("Run anew"),
                required=False,
                help_text=_("Even where a stored answer to the same call would do."),
            )

    def given(self, name: str) -> Any:
        """What a field holds, None where there is no such field or nothing in it."""
        return self.cleaned_data.get(name) or None
