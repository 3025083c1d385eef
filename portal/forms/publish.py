"""The publish form: a package as an archive, a folder or one SKILL.md, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.folder_upload import FolderFile
from portal.forms.of_team import OfTeam
from registry.models import Team, Visibility


@dataclass(frozen=True)
class Source:
    """What was handed in, by exactly one of the ways."""

    archive: FolderFile | None = None
    folder: tuple[FolderFile, ...] = ()
    text: str = ""
    checked: str = ""  # uid of bytes that were checked and kept


class _FolderInput(forms.FileInput):
    allow_multiple_selected = True

    def __init__(self) -> None:
        super().__init__(attrs={"webkitdirectory": True})

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name)


class _FolderField(forms.Field):
    widget = _FolderInput


class PublishForm(OfTeam):
    archive = forms.FileField(
        label=_("Archive or SKILL.md"),
        required=False,
        help_text=_("A .zip or .tar.gz with SKILL.md at its root or in its one folder, or SKILL.md alone."),
        widget=forms.FileInput(attrs={"accept": ".zip,.tar.gz,.tgz,.skill,.md"}),
    )
    folder = _FolderField(
        label=_("Folder"),
        required=False,
        help_text=_("The skill's folder with everything in it; your browser sends it file by file."),
    )
    text = forms.CharField(
        label=_("Text of SKILL.md"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "code", "rows": 8, "spellcheck": "false"}),
    )
    version = forms.CharField(
        label=_("Version"),
        required=False,
        max_length=64,
        help_text=_("Only where the package names none, such as 1.4.0; else the next patch is taken."),
    )
    visibility = forms.ChoiceField(
        label=_("Who sees the skill"),
        required=False,
        choices=[
            ("", _("As it is; a new skill is private")),
            (Visibility.PRIVATE, _("Private: the team alone")),
            (Visibility.SITE, _("Site: everyone who signs in")),
            (Visibility.PUBLIC, _("Public: everyone")),
        ],
    )
    changelog = forms.CharField(
        label=_("What is new"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    checked = forms.CharField(required=False, widget=forms.HiddenInput, max_length=26)

    def __init__(self, *args: Any, settable: bool = True, **more: Any) -> None:
        """``settable``: the actor may say in one of the teams who sees a skill; members may not."""
        super().__init__(*args, **more)
        if not settable:
            del self.fields["visibility"]
        self.team_field.label_from_instance = team_label  # type: ignore[method-assign, assignment]

    def clean(self) -> dict[str, Any]:
        given = [name for name in ("archive", "folder", "text") if self.cleaned_data.get(name)]
        if len(given) > 1:
            raise forms.ValidationError(
                _("Give the package one way: an archive, a folder or the text."), "several"
            )
        if not given and not self.cleaned_data.get("checked") and "archive" not in self.errors:
            self.add_error(
                "archive", _("Choose what to publish: an archive, a folder or the text of SKILL.md.")
            )
        return self.cleaned_data

    @property
    def source(self) -> Source:
        """A new upload counts more than what was kept of an earlier one."""
        given = self.cleaned_data
        if given["archive"]:
            return Source(archive=given["archive"])
        if given["folder"]:
            return Source(folder=tuple(given["folder"]))
        if given["text"].strip():
            return Source(text=given["text"].replace("\r\n", "\n"))
        return Source(checked=given["checked"])


def team_label(team: Team) -> str:
    return f"{team.name} ({team.slug})"
