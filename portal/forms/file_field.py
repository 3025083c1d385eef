"""An input that may be a file: uploaded now, left by an earlier run, or plain text passed as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Kept:
    """A file that was uploaded already, with a form that was then refused."""

    uid: str
    name: str = ""
    size: int = 0  # bytes


@dataclass(frozen=True)
class FileChoice:
    """What the control's parts hold."""

    upload: UploadedFile[bytes] | None = None
    text: str = ""
    artifact: str = ""  # "<run uid>/<path>"
    kept: Kept | None = None


class FileInput(forms.Widget):
    template_name = "run/file_widget.html"
    needs_multipart_form = True
    use_fieldset = True

    def __init__(self) -> None:
        super().__init__()
        self.kept: Kept | None = None
        self.artifacts: Sequence[tuple[str, str]] = ()
        self.text_first = False  # where a file is the exception

    def value_from_datadict(self, data: Any, files: Any, name: str) -> FileChoice:
        uid, _slash, known = str(data.get(f"{name}-kept", "")).partition("/")
        return FileChoice(
            upload=files.get(f"{name}-file"),
            text=data.get(f"{name}-text", "").replace("\r\n", "\n"),
            artifact=data.get(f"{name}-artifact", "").strip(),
            kept=Kept(uid, known) if uid else None,
        )

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, None, attrs)
        choice = value if isinstance(value, FileChoice) else FileChoice()
        context["widget"] |= {
            "choice": choice,
            "kept": self.kept or choice.kept,
            "artifacts": self.artifacts,
            "text_first": self.text_first,
            "open": bool(choice.artifact or (choice.text and not self.text_first)),
        }
        return context


class FileInputField(forms.Field):
    """Cleans to an UploadedFile, ``{"artifact": …}``, ``{"input": …}`` (kept), a string, or None."""

    widget = FileInput

    def clean(self, value: FileChoice) -> Any:
        given = [part for part in (value.upload, value.artifact, value.text) if part]
        if len(given) > 1:
            raise ValidationError(
                _("Give one of the three: a file, an earlier run's file, or text."), "several"
            )
        if value.upload:
            return value.upload
        if value.artifact:
            return {"artifact": value.artifact}
        if value.text:
            return value.text
        if value.kept:
            return {"input": value.kept.uid}
        if self.required:
            raise ValidationError(self.error_messages["required"], "required")
        return None

    def shown(self, value: object) -> object:
        """The choice that stands for a JSON value, as when a run is started again."""
        if isinstance(value, Mapping):
            if isinstance(value.get("artifact"), str):
                return FileChoice(artifact=value["artifact"])
            if isinstance(value.get("input"), str):
                return FileChoice(kept=Kept(value["input"]))
        return FileChoice(text=str(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return True
