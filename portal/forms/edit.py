"""The form that edits a version's text: one editor a file, files added and left out, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.packages.editing import STEPS, Edits, text_of
from registry.packages.frontmatter import SKILL_MD
from registry.packages.package import PackageFile

_FILE_BYTES, _ALL_BYTES, _MOST_FILES = 128 * 1024, 512 * 1024, 100  # of text that one page edits
_MOST_ADDED = 20
_STEPS = zip(STEPS, (_("Patch: a correction"), _("Minor: something new"), _("Major: it breaks")), strict=True)


@dataclass(frozen=True)
class Editor:
    """One file of the version; without ``field`` it is kept as it is, or left out."""

    path: str
    anchor: str
    field: forms.BoundField | None
    gone: bool
    changed: bool


@dataclass(frozen=True)
class Added:
    path: forms.BoundField
    text: forms.BoundField


class EditForm(forms.Form):
    step = forms.ChoiceField(
        label=_("How much changes"), choices=list(_STEPS), initial="patch", widget=forms.RadioSelect
    )
    changelog = forms.CharField(
        label=_("What is new"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    seen = forms.CharField(required=False, max_length=71, widget=forms.HiddenInput)
    onto = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    rows = forms.IntegerField(min_value=0, max_value=_MOST_ADDED, initial=0, widget=forms.HiddenInput)
    gone = forms.MultipleChoiceField(required=False)
    use_required_attribute = False

    def __init__(self, files: Sequence[PackageFile], data: Any = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.package_files = sorted(files, key=lambda file: (file.path != SKILL_MD, file.path))
        gone = self.fields["gone"]
        assert isinstance(gone, forms.MultipleChoiceField)
        gone.choices = [(file.path, file.path) for file in self.package_files if file.path != SKILL_MD]
        self.texts = dict(_texts(self.package_files))
        for name, text in self.texts.items():
            self.fields[name] = _text_field(text)
        for index in range(self.row_count):
            self.fields[f"path-{index}"] = forms.CharField(
                label=_("Path of the new file"), required=False, max_length=500
            )
            self.fields[f"added-{index}"] = _text_field("")

    @property
    def row_count(self) -> int:
        """How many new files are written: what was sent, and one more where that was asked for."""
        sent = str(self.data.get("rows", "")) if self.is_bound else ""
        count = int(sent) if sent.isdecimal() and len(sent) < 4 else 0
        return min(count, _MOST_ADDED)

    @property
    def editors(self) -> Iterator[Editor]:
        left = set(self["gone"].value() or ())
        for index, file in enumerate(self.package_files):
            name = f"text-{index}"
            field = self[name] if name in self.texts else None
            changed = field is not None and _unlike(field.value(), self.texts[name])
            yield Editor(file.path, f"file-{index}", field, file.path in left, changed)

    @property
    def added(self) -> list[Added]:
        return [Added(self[f"path-{index}"], self[f"added-{index}"]) for index in range(self.row_count)]

    @property
    def edits(self) -> Edits:
        """What was written; a new file without a path is none."""
        given = self.cleaned_data
        texts = [
            (file.path, given[f"text-{index}"])
            for index, file in enumerate(self.package_files)
            if f"text-{index}" in self.texts and f"text-{index}" in self.data
        ]
        added = [
            (path.strip(), given[f"added-{index}"])
            for index in range(self.row_count)
            if (path := given[f"path-{index}"]).strip()
        ]
        return Edits(tuple(texts), tuple(added), frozenset(given["gone"]))


def _texts(files: Sequence[PackageFile]) -> Iterator[tuple[str, str]]:
    """What is text and not too long, SKILL.md first, until the page is full."""
    left, most = _ALL_BYTES, _MOST_FILES
    for index, file in enumerate(files):
        if len(file.data) > min(_FILE_BYTES, left) or not most or b"\0" in file.data:
            continue
        try:
            yield f"text-{index}", text_of(file.data)
        except UnicodeDecodeError:
            continue
        left, most = left - len(file.data), most - 1


def _text_field(text: str) -> forms.CharField:
    area = forms.Textarea(attrs={"class": "code grows", "rows": 10, "spellcheck": "false"})
    return forms.CharField(label=_("Text"), required=False, strip=False, initial=text, widget=area)


def _unlike(text: str, before: str) -> bool:
    return text.splitlines() != before.splitlines()
