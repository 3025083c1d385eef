"""The publish form: a package as archive, folder or SKILL.md text, and its team and options."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.team_choice import TeamChoiceForm
from portal.forms.version_changes import VISIBILITIES


class _FolderInput(forms.FileInput):
    allow_multiple_selected = True

    def __init__(self) -> None:
        super().__init__(attrs={"webkitdirectory": True})

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name)


class _FolderField(forms.Field):
    widget = _FolderInput


class PublishForm(TeamChoiceForm):
    archive = forms.FileField(
        label=_("Archive or SKILL.md"),
        required=False,
        help_text=_(
            "A .zip or .tar.gz with SKILL.md at the root or in its only folder, or a single SKILL.md."
        ),
        widget=forms.FileInput(attrs={"accept": ".zip,.tar.gz,.tgz,.skill,.md"}),
    )
    folder = _FolderField(
        label=_("Folder"),
        required=False,
        help_text=_("The skill's folder with all its files; your browser uploads them one by one."),
    )
    text = forms.CharField(
        label=_("SKILL.md text"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"class": "code grows", "rows": 8, "spellcheck": "false"}),
    )
    version = forms.CharField(
        label=_("Version"),
        required=False,
        max_length=64,
        help_text=_(
            "Used only if the package has no version; leave empty for the next patch version, such "
            "as 1.2.4 after 1.2.3."
        ),
    )
    visibility = forms.ChoiceField(
        label=_("Visibility"),
        required=False,
        choices=[("", _("Unchanged (new skills are private)")), *VISIBILITIES],
    )
    changelog = forms.CharField(
        label=_("Changelog"), required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 3})
    )
    upload_id = forms.CharField(required=False, widget=forms.HiddenInput, max_length=26)

    def __init__(self, *args: Any, settable: bool = True, **more: Any) -> None:
        """Removes the visibility field unless ``settable``."""
        super().__init__(*args, **more)
        if not settable:
            del self.fields["visibility"]

    def clean(self) -> dict[str, Any]:
        names = ("archive", "folder") if self.cleaned_data.get("upload_id") else ("archive", "folder", "text")
        given = [name for name in names if self.cleaned_data.get(name)]  # a draft's text is always filled in
        if len(given) > 1:
            raise forms.ValidationError(_("Choose only one: an archive, a folder or the text."), "several")
        if not given and not self.cleaned_data.get("upload_id") and "archive" not in self.errors:
            error = _("Choose a package to publish: an archive, a folder or the text of SKILL.md.")
            self.add_error("archive", forms.ValidationError(error, "required"))
        return self.cleaned_data
