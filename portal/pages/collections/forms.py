"""Forms of collections."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.forms.team_choice import TeamChoiceForm
from registry.collections.edit import ChosenSkill, chosen_skills
from registry.identity.actors import Actor
from registry.models import Collection, Team, Visibility

_MAX_TEXT = 40_000


class CollectionForm(forms.Form):
    """The fields of a collection. ``chosen`` are the skills of a valid form."""

    title = forms.CharField(label=_("Title"), max_length=120)
    description = forms.CharField(
        label=_("Description"), max_length=1000, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    visibility = forms.ChoiceField(
        label=_("Visibility"),
        choices=Visibility.choices,
        initial=Visibility.PRIVATE,
        help_text=_(
            "Each person sees only the skills that they may see, whatever the collection's visibility."
        ),
    )
    skills = forms.CharField(
        label=_("Skills"),
        max_length=_MAX_TEXT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 10, "class": "code", "spellcheck": "false"}),
        help_text=_(
            "One per line, in order: team/skill for the latest version, team/skill@stable for a channel, "
            "team/skill@1.2.0 for a fixed version."
        ),
    )
    use_required_attribute = False

    @classmethod
    def of(cls, collection: Collection, actor: Actor) -> CollectionForm:
        lines = "\n".join(map(str, chosen_skills(collection, actor)))
        fields = ("title", "description", "visibility")
        return cls(initial={**{name: getattr(collection, name) for name in fields}, "skills": lines})

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of ``edit.create`` and ``edit.change``."""
        options = {name: self.cleaned_data[name] for name in ("title", "description", "visibility")}
        lines = self.cleaned_data["skills"].splitlines()
        return {**options, "chosen": [ChosenSkill.parse(line) for line in lines if line.strip()]}


class NewCollectionForm(CollectionForm, TeamChoiceForm):
    slug = forms.CharField(
        label=_("Short name"),
        max_length=64,
        help_text=_("Lowercase letters, digits and hyphens (not two in a row)."),
    )
    field_order = ("team", "slug", "title", "description", "visibility", "skills")

    def __init__(self, *args: Any, teams: QuerySet[Team], **more: Any) -> None:
        super().__init__(*args, teams=teams, **more)
