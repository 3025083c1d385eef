"""The parts of an inputs form: single fields, groups of fields, lists and choices, as a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.schema_fields import NULL

FileValue = Callable[[str, "UploadedFile[bytes]"], Any]  # field name and upload → the input's value


class PartField(forms.Field):
    """The field of a group, list or choice: it has a label and errors, and no control."""

    widget = forms.HiddenInput

    def __init__(self, **more: Any) -> None:
        super().__init__(**more | {"required": False})
        self.key = self.sub_schema = ""
        self.needed = False


@dataclass
class FormPart:
    """A part of the form. ``name`` is the name of its form field, ``key`` the key of its value.

    ``needed`` is set if the value is required wherever the surrounding object exists.
    """

    form: forms.Form
    name: str
    key: str
    needed: bool = False
    kind = "field"

    @property
    def bound(self) -> forms.BoundField:
        return self.form[self.name]

    def value(self, file: FileValue) -> Any:
        """The cleaned value; None if it is empty or invalid."""
        value = self.form.cleaned_data.get(self.name)
        return file(self.name, value) if isinstance(value, UploadedFile) else value

    def at(self, parts: list[str]) -> tuple[FormPart, list[str]]:
        """The deepest node on the path of a JSON pointer, and the parts of the path inside its value."""
        return self, parts

    def check(self, file: FileValue) -> None:
        """Adds the errors that only this part as a whole can have."""

    def add_required_error(self) -> None:
        if self.name not in self.form.errors:
            message = self.form.fields[self.name].error_messages["required"]
            self.form.add_error(self.name, forms.ValidationError(message, code="required"))


@dataclass
class Group(FormPart):
    """An object. If ``must`` is unset, the object is omitted while all its fields are empty."""

    children: list[FormPart] = field(default_factory=list)
    constants: Mapping[str, Any] = field(default_factory=dict)
    must: bool = False
    kind = "group"

    def value(self, file: FileValue) -> Any:
        found = {child.key: child.value(file) for child in self.children}
        values = {key: plain(value) for key, value in found.items() if value is not None}
        return values | dict(self.constants) if values or self.must else None

    def at(self, parts: list[str]) -> tuple[FormPart, list[str]]:
        child = next((child for child in self.children if parts and child.key == parts[0]), None)
        return child.at(parts[1:]) if child else (self, parts)

    def check(self, file: FileValue) -> None:
        for child in self.children:
            child.check(file)
        if self.must or self.value(file) is None:
            return
        for child in self.children:
            if child.needed and child.value(file) is None:
                child.add_required_error()


@dataclass
class ItemList(FormPart):
    """A list of parts, each with a number that it keeps while items are added and removed."""

    items: list[tuple[int, FormPart]] = field(default_factory=list)
    must: bool = False
    added: int | None = None  # the number of the item that was just added
    kind = "list"

    def value(self, file: FileValue) -> Any:
        values = [plain(item.value(file)) for _number, item in self.items]
        return values if values or self.must else None

    def at(self, parts: list[str]) -> tuple[FormPart, list[str]]:
        place = int(parts[0]) if parts and parts[0].isascii() and parts[0].isdigit() else len(self.items)
        return self.items[place][1].at(parts[1:]) if place < len(self.items) else (self, parts)

    def check(self, file: FileValue) -> None:
        for _number, item in self.items:
            item.check(file)


@dataclass
class Choice(FormPart):
    """A choice between schemas; ``chosen`` is the part for the chosen one, and ``place`` its number."""

    chosen: FormPart | None = None
    place: int | None = None
    is_new: bool = False  # the user has not seen the fields of the chosen schema
    kind = "choice"

    @property
    def choice(self) -> forms.BoundField:
        return self.form[f"{self.name}-kind"]

    def value(self, file: FileValue) -> Any:
        return self.chosen.value(file) if self.chosen else None

    def at(self, parts: list[str]) -> tuple[FormPart, list[str]]:
        return self.chosen.at(parts) if self.chosen else (self, parts)

    def check(self, file: FileValue) -> None:
        if self.chosen:
            self.chosen.check(file)
        if self.is_new and not (isinstance(self.chosen, Group) and not self.chosen.children):
            self.form.add_error(
                self.name, forms.ValidationError(_("Check the fields of the option that you chose."), "new")
            )


def plain(value: Any) -> Any:
    return None if value is NULL else value
