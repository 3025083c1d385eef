"""The arguments of a prompt: a field for each name that the skill declares, else one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.packages.package import Manifest
from worker.protocols.prompt import join_arguments
from worker.protocols.prompting import names_of

_MOST = 20


class UseForm(forms.Form):
    """``before`` are the inputs of an earlier run, to begin with."""

    use_required_attribute = False

    def __init__(self, manifest: Manifest, *, before: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.names = names_of(manifest)[:_MOST]
        for number, name in enumerate(self.names):
            self.fields[f"argument-{number}"] = _field(name, "", (before or {}).get(name))
        if not self.names:
            hint, line = manifest.argument_hint, (before or {}).get("arguments")
            self.fields["arguments"] = _field(_("Arguments"), hint, line)

    @property
    def line(self) -> str:
        """The whole line of arguments, as ``$ARGUMENTS`` is."""
        given = self._given()
        if not self.names:
            return given.get("arguments", "")
        return join_arguments([given.get(f"argument-{number}", "") for number in range(len(self.names))])

    @property
    def values(self) -> Mapping[str, str]:
        given = self._given()
        return {name: given.get(f"argument-{number}", "") for number, name in enumerate(self.names)}

    @property
    def inputs(self) -> dict[str, str]:
        """The same as the inputs of a run."""
        if self.names:
            return {name: value for name, value in self.values.items() if value}
        return {"arguments": self.line} if self.line else {}

    def _given(self) -> dict[str, str]:
        if not self.is_bound or not self.is_valid():
            return {}
        return {name: str(value).replace("\r\n", "\n") for name, value in self.cleaned_data.items()}


def _field(label: Any, hint: str, initial: Any) -> forms.CharField:
    attributes = {"rows": 1, "class": "grows", "placeholder": hint[:200]}
    return forms.CharField(
        label=label,
        required=False,
        strip=False,
        max_length=100_000,
        initial=initial if isinstance(initial, str) else None,
        widget=forms.Textarea(attrs=attributes),
    )
