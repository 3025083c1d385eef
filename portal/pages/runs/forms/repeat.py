"""The form that changes version and inputs of a run batch before it starts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from registry.core.sql import Reads, reader
from registry.identity.actors import Actor
from registry.models import Redirect, Skill, Version
from worker.run_batches.selection import NEWEST, SAME

_MAX_NUMBERS = 30


class RepeatForm(forms.Form):
    """``batch`` is the document of the preview, and ``numbers`` are those of ``newest_numbers``."""

    use_required_attribute = False
    to_version = forms.ChoiceField(label=_("Version to run"))
    inputs = forms.CharField(
        label=_("Inputs to change (JSON object)"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "code", "spellcheck": "false"}),
        help_text=_(
            "In the new runs, these inputs replace the original inputs of the same name; null "
            'removes an input. Example: {"path": "new.csv"}'
        ),
    )

    def __init__(self, data: Any = None, *, batch: Mapping[str, Any], numbers: Sequence[str]) -> None:
        super().__init__(data, initial={"to_version": batch["version"]})
        numbers = list(dict.fromkeys([*numbers, batch["version"]]))
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


@reader
def newest_numbers(skill: str, actor: Actor) -> Reads[list[str]]:
    """The newest version numbers of the skill "team/slug", by its current or a former address; without those
    that the actor can't see.
    """
    team, slash, slug = skill.rpartition("/")
    if not slash:
        return []
    named = Q(slug=slug, team__slug=team)
    own, former = Skill.objects.filter(named).values("pk"), Redirect.objects.filter(named).values("to")
    merged = Skill.objects.filter(named).values("merged_into")
    rows = Version.objects.visible_to(actor)
    rows = rows.filter(Q(skill__in=own) | Q(skill__in=former) | Q(skill__in=merged))
    yield (numbers := rows.order_by("-pk").values_list("number", flat=True)[:_MAX_NUMBERS])
    return list(numbers)
