"""Form fields for the parameters of a script. A field cleans to a value of ``build_arguments`` or to None."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.argument_line import argument_line, read_word
from portal.pages.runs.forms.file_field import FileInputField
from portal.pages.runs.forms.schema_fields import NumberField
from portal.pages.runs.forms.text_fields import TextField, text_area
from portal.presenters.content.punctuation import labelled, listed, sentences
from registry.packages.command_lines import Parameter, may_be_file

_MAX_COUNT = 20


class FlagField(forms.BooleanField):
    def clean(self, value: Any) -> Any:
        return super().clean(value) or None


class OnOffField(forms.ChoiceField):
    """A choice between the flag for on and the flag for off. Without a choice, the script decides."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return text == "on" if text else None

    def initial_value(self, value: object) -> object:
        return "on" if value else "off"


class SelectField(forms.ChoiceField):
    def clean(self, value: Any) -> Any:
        return super().clean(value) or None


class CheckboxesField(forms.MultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> Any:
        return super().clean(value) or None


class ValuesField(forms.CharField):
    """Several values, one per line. With ``in_words``, each line has the words of one occurrence of the
    option.

    Can be empty even if required, because the values can be uploads.
    """

    widget = forms.Textarea

    def __init__(self, parameter: Parameter, **more: Any) -> None:
        super().__init__(strip=False, widget=text_area({}), **more)
        self.parameter = parameter
        self.in_words = parameter.repeated and parameter.max_values != 1

    def validate(self, value: Any) -> None: ...

    def clean(self, value: Any) -> Any:
        lines = enumerate(super().clean(value).splitlines(), 1)
        numbered = [(number, line.strip()) for number, line in lines if line.strip()]
        if self.in_words:
            return [self._words(line, number) for number, line in numbered] or None
        if not self.parameter.repeated:
            self._check_count(len(numbered))
        return [read_word(line) for _number, line in numbered] or None

    def _words(self, line: str, number: int) -> list[Any]:
        try:
            words = shlex.split(line)
        except ValueError:
            text = _("Close every quote, and don't end a line in “\\”.")
            raise _value_error(text, "quotes", number=number) from None
        self._check_count(len(words), number)
        return [read_word(word) for word in words]

    def _check_count(self, count: int, number: int | None = None) -> None:
        """Checks how many values line ``number`` has; without ``number``, all lines together."""
        most, least = self.parameter.max_values, self.parameter.min_values
        if count and (count < least or (most is not None and count > most)):
            text = _expected_count(least, most)
            raise _value_error(text, "count", number=number, count=count, least=least, most=most)

    def initial_value(self, value: object) -> object:
        lines = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return "\n".join(argument_line(one) if isinstance(one, list) else _text(one) for one in lines)


def _value_error(text: object, code: str, *, number: int | None, **params: int | None) -> ValidationError:
    """The error, with the number of the line if it is about one line."""
    if number is not None:
        text = labelled(_("Line %(number)s"), text)
    return ValidationError(str(text), code, params | {"number": number})


def _expected_count(least: int, most: int | None) -> object:
    """The text of the error for a wrong number of values. Its limit is at least 2, because the fields of
    parameters with one value per line count nothing.
    """
    if most is None:
        return _("Enter at least %(least)d values; you entered %(count)d.")
    if least == most:
        return _("Enter exactly %(most)d values; you entered %(count)d.")
    if least < 2:
        return _("Enter at most %(most)d values; you entered %(count)d.")
    return _("Enter at least %(least)d and at most %(most)s values; you entered %(count)d.")


def field_of(parameter: Parameter, *, required: bool) -> forms.Field:
    """The form field of a parameter. Its attribute ``key`` lists the parameter's other flags."""
    flag = next((each for each in parameter.flags if each.startswith("--")), "".join(parameter.flags[:1]))
    common = {
        "required": required,
        "label": flag or parameter.metavar or parameter.name,
        "help_text": _hint(parameter),
    }
    field = _field(parameter, common)
    field.key = ", ".join(each for each in parameter.flags if each != flag)  # type: ignore[attr-defined]
    return field


def show_value(field: forms.Field, value: Any) -> None:
    """Sets the field's initial value from a value of ``build_arguments``."""
    field.initial = field.initial_value(value) if hasattr(field, "initial_value") else value
    if "\n" in str(field.initial) and type(field.widget) is forms.TextInput:
        field.widget = text_area(field.widget.attrs)


def _field(parameter: Parameter, common: dict[str, Any]) -> forms.Field:
    if parameter.is_switch:
        return _switch(parameter, common)
    if parameter.has_many_values:
        if parameter.choices and (not parameter.repeated or parameter.max_values == 1):
            return CheckboxesField(choices=[(each, each) for each in parameter.choices], **common)
        return ValuesField(parameter, **common)
    if parameter.choices:
        blank = () if common["required"] and len(parameter.choices) == 1 else (("", "—"),)
        return SelectField(choices=[*blank, *((each, each) for each in parameter.choices)], **common)
    if may_be_file(parameter):
        field = FileInputField(**common)
        field.widget.text_first = parameter.file != "input"
        return field
    if parameter.type == "integer":
        return forms.IntegerField(**common)
    if parameter.type == "number":
        return NumberField(widget=forms.NumberInput(attrs={"step": "any"}), **common)
    return TextField(strip=False, widget=forms.TextInput(), **common)


def _switch(parameter: Parameter, common: dict[str, Any]) -> forms.Field:
    if parameter.repeated:
        return forms.IntegerField(min_value=0, max_value=_MAX_COUNT, **common)
    if parameter.negative_flags:
        choices = [("", "—"), ("on", common["label"]), ("off", parameter.negative_flags[0])]
        return OnOffField(choices=choices, **common)
    return FlagField(**common)


def _hint(parameter: Parameter) -> str:
    hints = [_sentence(parameter.help)]
    default = parameter.default
    if default not in (None, "", ()) and not isinstance(default, bool):
        hints.append(str(_("Default: %(value)s.") % {"value": _default_text(default)}))
    if parameter.is_switch and parameter.repeated:
        hints.append(str(_("Enter how many times to pass this flag to the script.")))
    elif parameter.has_many_values and not parameter.is_switch and not parameter.choices:
        hints.append(str(_("One per line.")))
    return sentences(hints)


def _sentence(text: str) -> str:
    return f"{text}." if text[-1:].isalnum() else text


def _default_text(default: object) -> str:
    return listed(default) if isinstance(default, tuple) else str(default)


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, Mapping) else str(value)
