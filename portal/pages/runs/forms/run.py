"""The options of a run apart from its inputs.

Skills without a schema also get a field for the command line.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.forms.suggestions import SuggestionInput
from portal.pages.runs.forms.argument_line import ArgumentFilesField, ArgumentLineField
from portal.presenters.content.punctuation import listed
from registry.models import Team


class RunOptionsForm(forms.Form):
    """The options of a run. An option has no field if the user has nothing to choose."""

    def __init__(
        self,
        *,
        scripts: Sequence[str] = (),
        actions: Sequence[str] = (),
        declared: Sequence[str] = (),
        needs_action: bool = False,
        teams: QuerySet[Team],
        takes_arguments: bool = False,
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
                widget=SuggestionInput(actions),
                help_text=_("For example %(names)s, or another action that the skill supports.")
                % {"names": listed((declared or actions)[:8])},
            )
        if takes_arguments:
            self.fields |= _command_line_fields()
        if len(teams) > 1:
            team = self.fields["team"] = forms.ModelChoiceField(
                label=_("For team"),
                queryset=teams,
                to_field_name="slug",
                empty_label=None,
                help_text=_("This team will own the run, and the team's maintainers can read the run."),
            )
            team.choices = [(each.slug, str(each)) for each in teams]  # already read
        self.fields["debug"] = forms.BooleanField(
            label=_("Debug"), required=False, help_text=_("Sets SKILL_DEBUG=1 so that the script logs more.")
        )
        if cacheable:
            self.fields["no_cache"] = forms.BooleanField(
                label=_("Ignore cached result"),
                required=False,
                help_text=_("Runs the skill even if a cached result is available."),
            )

    def value(self, name: str) -> Any:
        """The cleaned value of a field; None if the field is missing, empty or unchecked."""
        return self.cleaned_data.get(name) or None


def _command_line_fields() -> dict[str, forms.Field]:
    stdin = forms.CharField(
        label=_("Standard input"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "code grows", "spellcheck": "false"}),
    )
    return {"arguments": ArgumentLineField(), "argument_files": ArgumentFilesField(), "stdin": stdin}
