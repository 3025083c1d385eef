"""The form that starts a skill: what kind it is, what it is called, and whose it will be."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from portal.forms.of_team import OfTeam
from portal.forms.publish import team_label
from registry.packages.naming import NAME_CHARACTERS, SLUG_CHARACTERS
from registry.packages.starting import DESCRIPTION_CHARACTERS, KINDS, Start

_KINDS = [(kind.name, format_lazy("{}: {}", _(kind.title), _(kind.summary))) for kind in KINDS]


class StartForm(OfTeam):
    kind = forms.ChoiceField(label=_("Kind"), choices=_KINDS, initial="prompt", widget=forms.RadioSelect)
    name = forms.CharField(
        label=_("Short name"),
        max_length=SLUG_CHARACTERS,
        help_text=_("Part of its address: small letters, digits and single hyphens, such as word-count."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    title = forms.CharField(
        label=_("Name that is shown"),
        required=False,
        max_length=NAME_CHARACTERS,
        help_text=_("In any language; else it is made of the short name."),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=DESCRIPTION_CHARACTERS,
        help_text=_("What it does and when to use it: this is what people and agents choose by."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    language = forms.ChoiceField(
        label=_("Language of its texts"), choices=[("en", "English"), ("zh", "简体中文")]
    )
    field_order = ("kind", "name", "title", "description", "language", "team")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.team_field.label_from_instance = team_label  # type: ignore[method-assign, assignment]

    @property
    def start(self) -> Start:
        return Start(**{name: self.cleaned_data[name] for name in Start.__dataclass_fields__})
