"""The form that changes version and inputs of a run batch before it starts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.identity.actors import Actor
from registry.lookup.skills import find_skill
from registry.models import Version
from registry.packages.problems import Refusal
from worker.run_batches.selection import NEWEST, SAME

_MAX_NUMBERS = 30


class RepeatForm(forms.Form):
    """``batch`` is the document of the preview. If it names a skill that the actor can see, its newest
    versions are choices.
    """

    use_required_attribute = False
    to_version = forms.ChoiceField(label=_("Version to run"))
    inputs = forms.CharField(
        label=_("Inputs to change (JSON object)"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "spellcheck": "false"}),
        help_text=_(
            "Replaces these inputs of each run and keeps the others; null removes an input. "
            'Example: {"path": "new.csv"}'
        ),
    )

    def __init__(self, data: Any = None, *, batch: Mapping[str, Any], actor: Actor) -> None:
        super().__init__(data, initial={"to_version": batch["version"]})
        numbers = dict.fromkeys([*_numbers(batch["filter"].get("skill", ""), actor), batch["version"]])
        named = [(SAME, _("Same version")), (NEWEST, _("Newest version"))]
        numbered = [(number, number) for number in numbers if number not in (SAME, NEWEST, None)]
        self.fields["to_version"].choices = [*named, *numbered]  # type: ignore[attr-defined]

    def clean_inputs(self) -> str:
        text = str(self.cleaned_data["inputs"])
        if parsed_inputs(text) is None:
            raise forms.ValidationError(_("Enter a JSON object, such as {}."), code="FIELD_INVALID")
        return text


def parsed_inputs(text: str) -> dict[str, Any] | None:
    """The object that the text contains, {} for an empty text, and None for anything else."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _numbers(skill: str, actor: Actor) -> Iterator[str]:
    if "/" not in skill:
        return
    try:
        found = find_skill(skill, actor)
    except Refusal:
        return
    rows = Version.objects.visible_to(actor).filter(skill=found).order_by("-pk")
    yield from rows.values_list("number", flat=True)[:_MAX_NUMBERS]
