"""The arguments of a prompt: a field for each name that the skill declares, else one line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.packages.package import Manifest

_MOST = 20


class UseForm(forms.Form):
    use_required_attribute = False

    def __init__(self, manifest: Manifest, **more: Any) -> None:
        super().__init__(**more)
        self.names = manifest.arguments[:_MOST]
        for number, name in enumerate(self.names):
            self.fields[f"argument-{number}"] = _field(name, "")
        if not self.names:
            self.fields["arguments"] = _field(_("Arguments"), manifest.argument_hint)

    @property
    def line(self) -> str:
        """The whole line of arguments, as ``$ARGUMENTS`` is."""
        given = self._given()
        if not self.names:
            return given.get("arguments", "")
        words = [given.get(f"argument-{number}", "") for number in range(len(self.names))]
        while words and not words[-1]:
            words.pop()
        return " ".join(
            shlex.quote(word) if word != word.strip() or _has_space(word) else word for word in words
        )

    @property
    def values(self) -> Mapping[str, str]:
        given = self._given()
        return {name: given.get(f"argument-{number}", "") for number, name in enumerate(self.names)}

    def _given(self) -> dict[str, str]:
        if not self.is_bound or not self.is_valid():
            return {}
        return {name: str(value).replace("\r\n", "\n") for name, value in self.cleaned_data.items()}


def _has_space(word: str) -> bool:
    return not word or any(character.isspace() or character in "'\"\\" for character in word)


def _field(label: Any, hint: str) -> forms.CharField:
    attributes = {"rows": 1, "class": "grows", "placeholder": hint[:200]}
    return forms.CharField(
        label=label, required=False, strip=False, max_length=100_000, widget=forms.Textarea(attrs=attributes)
    )
