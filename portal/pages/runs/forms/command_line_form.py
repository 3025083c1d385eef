"""The form for a script whose parser declares its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.argument_line import ArgumentFilesField, join_files
from portal.pages.runs.forms.file_field import FileInputField
from portal.pages.runs.forms.parameter_fields import ValuesField, field_of, show_value
from portal.pages.runs.forms.schema_form import FilesForm, Store
from portal.presenters.content.punctuation import listed
from registry.packages.command_lines import (
    ArgumentValues,
    CommandLevel,
    CommandLine,
    ExclusiveGroup,
    Parameter,
    build_arguments,
    may_be_file,
)
from registry.packages.problems import Problem

COMMAND = "command"
_MAX_OPTIONS = 6  # further optional parameters are advanced options
_EMPTY: tuple[Any, ...] = (None, "", False, [])


@dataclass(frozen=True)
class FieldGroup:
    """Fields that are shown together. In an exclusive group, at most one field can have a value."""

    fields: tuple[BoundField, ...]
    exclusive: bool = False
    required: bool = False


class CommandLineForm(FilesForm):
    """A form with a choice of the subcommand, and a field per parameter of the script and of that subcommand.

    Fields are named ``argument-0`` …, numbered over all subcommands, so that a value is kept when another
    subcommand is chosen. A parameter that accepts several files also has a field ``argument-0-files``. An
    option whose value is optional has a checkbox ``argument-0-flag`` for the flag alone.
    """

    use_required_attribute = False

    def __init__(
        self,
        command_line: CommandLine,
        *,
        shown: ArgumentValues,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.command_line = command_line
        choices = {" ".join(names): names for names in _callable_commands(command_line)}
        named = self.data.get(COMMAND) if self.is_bound else " ".join(shown.commands)
        self.commands = choices.get(str(named or ""), next(iter(choices.values()), ()))
        if len(choices) > 1 or self.commands:
            self.fields[COMMAND] = forms.ChoiceField(
                label=_("Command"),
                choices=[(text, text or "—") for text in choices],
                initial=" ".join(self.commands),
                help_text=self._level.help,
            )
        self._names: dict[str, str] = {}  # parameter id → field name
        for name, parameter in self._numbered_parameters():
            self._add_field(name, parameter, shown.values.get(parameter.id))

    @property
    def _levels(self) -> tuple[CommandLevel, ...]:
        return self.command_line.levels(self.commands)

    @property
    def _level(self) -> CommandLevel:
        return self._levels[-1]

    def _numbered_parameters(self) -> Iterator[tuple[str, Parameter]]:
        chosen = {parameter.id for level in self._levels for parameter in level.parameters}
        everything = (
            parameter
            for names in self.command_line.commands()
            for parameter in self.command_line.levels(names)[-1].parameters
        )
        for number, parameter in enumerate(everything):
            if parameter.id in chosen:
                yield f"argument-{number}", parameter

    def _add_field(self, name: str, parameter: Parameter, value: Any) -> None:
        grouped = any(parameter.id in group.ids for group in self._groups)
        files_too = parameter.has_many_values and may_be_file(parameter)
        flag_too = not parameter.is_positional and not parameter.min_values and parameter.max_values == 1
        field = field_of(parameter, required=parameter.required and not (grouped or flag_too))
        if value not in _EMPTY and (value is not True or parameter.is_switch):
            show_value(field, value)
        self.fields[name], self._names[parameter.id] = field, name
        if files_too:
            self.fields[f"{name}-files"] = ArgumentFilesField()
            self.fields[f"{name}-files"].label = _("Files for %(name)s") % {"name": field.label}
            self.fields[f"{name}-files"].help_text = ""
        if flag_too:
            self.fields[f"{name}-flag"] = forms.BooleanField(
                label=_("Pass only %(flag)s, without a value") % {"flag": field.label},
                required=False,
                initial=value is True,
            )

    @property
    def _groups(self) -> list[ExclusiveGroup]:
        return [group for level in self._levels for group in level.groups]

    @property
    def command_field(self) -> BoundField | None:
        return self[COMMAND] if COMMAND in self.fields else None

    @property
    def main_groups(self) -> list[FieldGroup]:
        return [group for group, is_main in self._field_groups() if is_main]

    @property
    def advanced_groups(self) -> list[FieldGroup]:
        return [group for group, is_main in self._field_groups() if not is_main]

    @property
    def has_advanced(self) -> bool:
        fields = [field for group in self.advanced_groups for field in group.fields]
        return any(field.errors or field.value() not in _EMPTY for field in fields if not _is_file(field))

    def _field_groups(self) -> Iterator[tuple[FieldGroup, bool]]:
        """Yields ``(group, is_main)`` in declaration order; ``is_main`` is True for groups shown above the
        advanced options.
        """
        parameters = [parameter for _name, parameter in self._numbered_parameters()]
        optional = sum(not each.required and not each.is_positional for each in parameters)
        shown: set[str] = set()
        for parameter in parameters:
            group = next((each for each in self._groups if parameter.id in each.ids), None)
            ids = group.ids if group else (parameter.id,)
            if parameter.id in shown:
                continue
            shown.update(ids)
            is_main = bool(group and group.required) or parameter.required or parameter.is_positional
            yield (
                FieldGroup(
                    tuple(field for each in ids if each in self._names for field in self._bound_fields(each)),
                    exclusive=bool(group and len(ids) > 1),
                    required=bool(group and group.required),
                ),
                is_main or (optional <= _MAX_OPTIONS and not parameter.hidden),
            )

    def _bound_fields(self, parameter_id: str) -> list[BoundField]:
        name = self._names[parameter_id]
        return [self[each] for each in (name, f"{name}-files", f"{name}-flag") if each in self.fields]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for group in self._groups:
            given = [each for each in group.ids if each in self._names and self._is_given(each)]
            if len(given) > 1:
                self.add_error(self._names[given[1]], _error("exclusive", group, self._labels(group)))
            elif group.required and not given:
                self.add_error(self._names[group.ids[0]], _error("required", group, self._labels(group)))
        for parameter_id, name in self._names.items():
            field = self.fields[name]
            if field.required and name not in self.errors and not self._is_given(parameter_id):
                self.add_error(name, forms.ValidationError(field.error_messages["required"], "required"))
        return cleaned

    def _labels(self, group: ExclusiveGroup) -> str:
        return listed(self.fields[self._names[each]].label for each in group.ids)

    def _is_given(self, parameter_id: str) -> bool:
        name = self._names[parameter_id]
        return any(
            self.cleaned_data.get(each) not in _EMPTY for each in (name, f"{name}-files", f"{name}-flag")
        )

    def arguments(self, store: Store) -> list[Any]:
        """The arguments of the run. Calls ``store`` for each upload and then shows the stored file."""
        values = {each: self._value(name, store) for each, name in self._names.items()}
        return build_arguments(self.command_line, values, self.commands)

    def _value(self, name: str, store: Store) -> Any:
        value = self.cleaned_data.get(name)
        if isinstance(value, UploadedFile):
            self.fields[name].widget.stored = stored = store(value)
            return {"input": stored.uid}
        if uploads := self.cleaned_data.get(f"{name}-files"):
            value = join_files(value or [], uploads, store)
            self._keep(name, value)
        if value in _EMPTY and self.cleaned_data.get(f"{name}-flag"):
            return True
        return value

    def _keep(self, name: str, value: list[Any]) -> None:
        """Shows stored files in place of the uploads, because a browser can't resend uploads."""
        field = self.fields[name]
        if isinstance(field, ValuesField) and isinstance(self.data, QueryDict):
            self.data = self.data.copy()
            self.data[name] = str(field.initial_value(value))
            self.cleaned_data |= {name: value, f"{name}-files": []}

    def keep_uploads(self, store: Store) -> None:
        super().keep_uploads(store)
        for name in self._names.values():
            self._value(name, store)

    def inputs(self, store: Store) -> dict[str, Any]:
        return {}

    def add_problems(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            self.add_error(None, forms.ValidationError(problem.message(gettext), code=problem.code))


def _callable_commands(command_line: CommandLine) -> Iterator[tuple[str, ...]]:
    """Yields the subcommand names of each possible call, () for a call without a subcommand."""
    for names in command_line.commands():
        level = command_line.levels(names)[-1]
        if not (level.subcommands and level.subcommand_required):
            yield names


def _error(code: str, group: ExclusiveGroup, labels: str) -> forms.ValidationError:
    text = _("Give exactly one of %(names)s.") if group.required else _("Give at most one of %(names)s.")
    return forms.ValidationError(text, code, {"names": labels})


def _is_file(field: BoundField) -> bool:
    return isinstance(field.field, FileInputField | ArgumentFilesField)
