"""The form that edits, adds and removes text files of a version."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.packages.authoring.edit import VERSION_STEPS, PackageEdits, VersionStep, text_of
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import PackageFile
from worker.core.display_budget import MAX_ROWS

# Limits of the editable text on a page.
_MAX_FILE_BYTES, _MAX_TOTAL_BYTES, _MAX_FILES = 128 * 1024, 512 * 1024, 100
_MAX_NEW_FILES = 20
_STEPS = tuple(
    zip(VERSION_STEPS, (_("Patch: fix"), _("Minor: new feature"), _("Major: breaking change")), strict=True)
)


@dataclass(frozen=True)
class Editor:
    """One file of the version. ``field`` is None for a binary file and above the size limits of the page."""

    path: str
    anchor: str
    field: forms.BoundField | None
    removed: bool
    changed: bool


@dataclass(frozen=True)
class NewFile:
    path: forms.BoundField
    text: forms.BoundField


class EditForm(forms.Form):
    bump = forms.ChoiceField(
        label=_("Type of change"), choices=_STEPS, initial="patch", widget=forms.RadioSelect
    )
    changelog = forms.CharField(
        label=_("Changelog"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    base_digest = forms.CharField(required=False, max_length=71, widget=forms.HiddenInput)
    rows = forms.IntegerField(min_value=0, max_value=_MAX_NEW_FILES, initial=0, widget=forms.HiddenInput)
    removed = forms.MultipleChoiceField(required=False)
    use_required_attribute = False

    def __init__(
        self,
        files: Sequence[PackageFile],
        data: Any = None,
        *,
        numbers: Mapping[VersionStep, str],
        **more: Any,
    ) -> None:
        """``numbers`` are the new version's number for each type of change."""
        super().__init__(data, **more)
        bump = self.fields["bump"]
        assert isinstance(bump, forms.ChoiceField)
        bump.choices = [(step, f"{numbers[step]} · {label}") for step, label in _STEPS]
        self.package_files = sorted(files, key=lambda file: (file.path != SKILL_MD, file.path))
        removed = self.fields["removed"]
        assert isinstance(removed, forms.MultipleChoiceField)
        removed.choices = [(file.path, file.path) for file in self.package_files if file.path != SKILL_MD]
        self.texts = dict(_texts(self.package_files))
        for name, text in self.texts.items():
            self.fields[name] = _text_field(text)
        for index in range(self.row_count):
            self.fields[f"path-{index}"] = forms.CharField(
                label=_("New file path"), required=False, max_length=500
            )
            self.fields[f"added-{index}"] = _text_field("")

    @property
    def row_count(self) -> int:
        """The submitted number of rows for new files, at most ``_MAX_NEW_FILES``."""
        sent = str(self.data.get("rows", "")) if self.is_bound else ""
        count = int(sent) if sent.isdecimal() and len(sent) < 4 else 0
        return min(count, _MAX_NEW_FILES)

    @property
    def editors(self) -> Iterator[Editor]:
        """Yields at most MAX_ROWS files: first all editable files, then others, each in the order of their
        paths.
        """
        removed = set(self["removed"].value() or ())
        others_left = MAX_ROWS - len(self.texts)
        for index, file in enumerate(self.package_files):
            name = f"text-{index}"
            field = self[name] if name in self.texts else None
            if field is None and not others_left:
                continue
            others_left -= field is None
            changed = field is not None and _differs(field.value(), self.texts[name])
            yield Editor(file.path, f"file-{index}", field, file.path in removed, changed)

    @property
    def added(self) -> list[NewFile]:
        return [NewFile(self[f"path-{index}"], self[f"added-{index}"]) for index in range(self.row_count)]

    @property
    def edits(self) -> PackageEdits:
        """The submitted edits. New files without a path are ignored."""
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
        return PackageEdits(tuple(texts), tuple(added), frozenset(given["removed"]))


def _texts(files: Sequence[PackageFile]) -> Iterator[tuple[str, str]]:
    """Field name and text of each editable file; omits files that are binary or exceed the page's limits."""
    bytes_left, files_left = _MAX_TOTAL_BYTES, _MAX_FILES
    for index, file in enumerate(files):
        if len(file.data) > min(_MAX_FILE_BYTES, bytes_left) or not files_left or b"\0" in file.data:
            continue
        try:
            yield f"text-{index}", text_of(file.data)
        except UnicodeDecodeError:
            continue
        bytes_left, files_left = bytes_left - len(file.data), files_left - 1


def _text_field(text: str) -> forms.CharField:
    area = forms.Textarea(attrs={"class": "code grows", "rows": 10, "spellcheck": "false"})
    return forms.CharField(label=_("Text"), required=False, strip=False, initial=text, widget=area)


def _differs(text: str | None, before: str) -> bool:
    """Whether the submitted text differs, ignoring line endings; a text that was not sent (None) is
    unchanged.
    """
    return text is not None and text.splitlines() != before.splitlines()
