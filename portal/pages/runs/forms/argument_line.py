"""The form fields for a script's arguments: one line, split as by a shell without expansion, and files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from portal.pages.runs.forms.schema_form import Store
from worker.files.inputs import is_reference


class ArgumentLineField(forms.CharField):
    """Cleans to a list of words. A word that is the JSON text of a file reference becomes that reference."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Arguments"),
            required=False,
            strip=False,
            widget=forms.Textarea(
                attrs={"rows": 1, "class": "code grows", "spellcheck": "false", "autocapitalize": "off"}
            ),
            help_text=_(
                "Only the arguments, without the script's name; no shell interprets "
                "them. Quote arguments with spaces. To pass an attached file, write its "
                "name."
            ),
        )

    def clean(self, value: Any) -> list[Any]:
        try:
            words = shlex.split(super().clean(value).replace("\r\n", "\n"))
        except ValueError:
            raise forms.ValidationError(
                _("Close every quote, and don't end a line in “\\”."), "quotes"
            ) from None
        return [read_word(word) for word in words]


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ArgumentFilesField(forms.FileField):
    """Cleans to a list of uploads."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Files"),
            required=False,
            widget=FilesInput(),
            help_text=_("A file whose name is not in the arguments becomes the last argument."),
        )

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        uploads = data if isinstance(data, list) else [data]
        return [self._clean_one(upload) for upload in uploads if upload]

    def _clean_one(self, upload: Any) -> UploadedFile[bytes]:
        forms.FileField(allow_empty_file=True).clean(upload)
        return upload  # type: ignore[no-any-return]


def argument_line(arguments: Sequence[Any]) -> str:
    """The line that cleans to the arguments; numbers and other scalars become text."""
    texts = (argument if isinstance(argument, str) else json.dumps(argument) for argument in arguments)
    return shlex.join(texts)


def join_files(arguments: Sequence[Any], uploads: Sequence[UploadedFile[bytes]], store: Store) -> list[Any]:
    """The arguments with a reference to each stored upload.

    The reference replaces every argument that equals the file's name. If no argument does, the reference is
    added at the end.
    """
    joined = list(arguments)
    for upload in uploads:
        reference = {"input": store(upload).uid}
        if upload.name in joined:
            joined = [reference if argument == upload.name else argument for argument in joined]
        else:
            joined.append(reference)
    return joined


def read_word(word: str) -> Any:
    """The file reference if the word is the JSON text of one, otherwise the word."""
    if not word.startswith("{"):
        return word
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return word
    return value if is_reference(value) else word
