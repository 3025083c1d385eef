"""The form for the arguments of a prompt."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.packages.package import Manifest
from worker.protocols.prompts.prompt_call import argument_names
from worker.protocols.prompts.render import join_arguments

_MAX_ARGUMENTS = 20
_MAX_LABEL, _MAX_HELP = 200, 1_000  # characters
_HINT = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|[^\s<>\[\]]+")  # the hint for one argument


class UseForm(forms.Form):
    """A form with a field for each of the first ``_MAX_ARGUMENTS`` declared arguments, or one field for all
    text.

    Labels and hints are the titles and descriptions in the input schema. ``prefill`` contains the inputs of
    an earlier run.
    """

    use_required_attribute = False

    def __init__(self, manifest: Manifest, *, prefill: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.names = argument_names(manifest)[:_MAX_ARGUMENTS]
        hints = _HINT.findall(manifest.argument_hint)
        for number, name in enumerate(self.names):
            hint = hints[number] if len(hints) == len(self.names) else ""
            field = _field(name, hint, (prefill or {}).get(name))
            schema = _property(manifest, name)
            field.label = str(schema.get("title") or name)[:_MAX_LABEL]
            field.help_text = str(schema.get("description") or "")[:_MAX_HELP]
            self.fields[f"argument-{number}"] = field
        if not self.names:
            hint, line = manifest.argument_hint, (prefill or {}).get("arguments")
            self.fields["arguments"] = _field(_("Arguments"), hint, line)

    @property
    def line(self) -> str:
        """All arguments in one line, the value of ``$ARGUMENTS``; empty if the form is unbound or invalid."""
        given = self._cleaned()
        if not self.names:
            return given.get("arguments", "")
        return join_arguments([given.get(f"argument-{number}", "") for number in range(len(self.names))])

    @property
    def values(self) -> Mapping[str, str]:
        given = self._cleaned()
        return {name: given.get(f"argument-{number}", "") for number, name in enumerate(self.names)}

    @property
    def inputs(self) -> dict[str, str]:
        """The arguments as inputs of a run, without empty ones."""
        if self.names:
            return {name: value for name, value in self.values.items() if value}
        return {"arguments": self.line} if self.line else {}

    def _cleaned(self) -> dict[str, str]:
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


def _property(manifest: Manifest, name: str) -> Mapping[str, Any]:
    """The argument's property in the input schema; {} if the schema has none."""
    properties = (manifest.input_schema or {}).get("properties")
    found = properties.get(name) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else {}
