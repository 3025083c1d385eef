"""The form field of an input that may be a file. Its value is a new upload, a file of an earlier run, or
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from worker.files.inputs import is_reference


@dataclass(frozen=True)
class StoredFile:
    """A stored upload. A refused form shows it, so that the user need not upload the file again."""

    uid: str
    name: str = ""
    size: int = 0  # bytes


@dataclass(frozen=True)
class FileChoice:
    """The submitted values of a ``FileInput``. Only one of ``upload``, ``artifact`` and ``text`` may be
    set.
    """

    upload: UploadedFile[bytes] | None = None
    text: str = ""
    artifact: str = ""  # "<run uid>/<path>"
    stored: StoredFile | None = None  # upload of an earlier submission, used if nothing else is given
    is_removed: bool = False  # whether the user has removed ``stored``


class FileInput(forms.Widget):
    template_name = "runs/file_widget.html"
    needs_multipart_form = True
    use_fieldset = True

    def __init__(self) -> None:
        super().__init__()
        self.stored: StoredFile | None = None
        self.text_first = False  # True for inputs that are rarely a file
        self.known: Mapping[str, StoredFile] = {}  # stored uploads by uid, with their names and sizes

    def value_from_datadict(self, data: Any, files: Any, name: str) -> FileChoice:
        uid, _slash, file_name = str(data.get(f"{name}-kept", "")).partition("/")
        return FileChoice(
            upload=files.get(f"{name}-file"),
            text=data.get(f"{name}-text", "").replace("\r\n", "\n"),
            artifact=data.get(f"{name}-artifact", "").strip(),
            stored=StoredFile(uid, file_name) if uid else None,
            is_removed=f"{name}-remove" in data,
        )

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, None, attrs)
        choice = value if isinstance(value, FileChoice) else FileChoice()
        stored = self.stored or choice.stored
        context["widget"] |= {
            "choice": choice,
            "stored": self.known.get(stored.uid, stored) if stored else None,
            "text_first": self.text_first,
            "open": bool(choice.artifact or (choice.text and not self.text_first)),
        }
        return context


class FileInputField(forms.Field):
    """Cleans to an UploadedFile, ``{"artifact": …}``, ``{"input": …}`` (stored upload), a string, or None."""

    widget = FileInput

    def clean(self, value: FileChoice) -> Any:
        given = [part for part in (value.upload, value.artifact, value.text) if part]
        if len(given) > 1:
            raise ValidationError(
                _("Choose only one: an uploaded file, a file from an earlier run, or text."), "several"
            )
        if value.upload:
            return value.upload
        if value.artifact:
            reference = {"artifact": value.artifact}
            if not is_reference(reference):
                raise ValidationError(_("Enter a run ID and a path, such as RUN_ID/report.txt."), "artifact")
            return reference
        if value.text:
            return value.text
        if value.stored and not value.is_removed:
            return {"input": value.stored.uid}
        if self.required:
            raise ValidationError(self.error_messages["required"], "required")
        return None

    def initial_value(self, value: object) -> object:
        """The ``FileChoice`` that shows a JSON value, such as an input of an earlier run."""
        if isinstance(value, Mapping):
            if isinstance(value.get("artifact"), str):
                return FileChoice(artifact=value["artifact"])
            if isinstance(value.get("input"), str):
                return FileChoice(stored=StoredFile(value["input"]))
        return FileChoice(text=str(value))

    def holds(self, value: object) -> bool:
        """Whether the control shows the value and sends it back unchanged."""
        if isinstance(value, str):
            return bool(value) and value.isprintable()
        is_named = isinstance(value, Mapping) and len(value) == 1
        return is_named and isinstance(value.get("artifact", value.get("input")), str)  # type: ignore[attr-defined]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return True
