"""The forms of imports: what to import and from where, and which rows of a report to show."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.of_team import OfTeam
from registry.models import ImportOutcome, SourceKind, Visibility

_HOUR = 3600
_OPTIONS = {
    SourceKind.GIT: ("branch", "tags", "path", "credentials"),
    SourceKind.ADDRESS: ("credentials",),
    SourceKind.MCP: ("credentials",),
}


class ImportForm(OfTeam):
    kind = forms.ChoiceField(
        label=_("What it is"),
        choices=[
            (SourceKind.GIT, _("Git repository")),
            (SourceKind.ADDRESS, _("Archive, SKILL.md or bucket, by its address")),
            (SourceKind.MCP, _("Prompts of an MCP server")),
            (SourceKind.ARCHIVE, _("Archive on this computer, with many skills")),
        ],
        widget=forms.RadioSelect,
        initial=SourceKind.GIT,
    )
    location = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=2000,
        help_text=_(
            "Such as https://git.example/team/skills.git, https://…/skills.zip or s3://bucket/skills/."
        ),
    )
    content = forms.FileField(
        label=_("Archive"),
        required=False,
        help_text=_("A .zip or .tar.gz of folders with a SKILL.md each."),
        widget=forms.FileInput(attrs={"accept": ".zip,.tar.gz,.tgz"}),
    )
    branch = forms.CharField(
        label=_("Branch"),
        required=False,
        max_length=300,
        help_text=_("Empty for the repository's own choice."),
    )
    tags = forms.BooleanField(label=_("Each tag such as v1.2.0 is a version"), required=False)
    path = forms.CharField(
        label=_("Folder within"),
        required=False,
        max_length=300,
        help_text=_("Empty for the whole repository."),
    )
    credentials = forms.CharField(
        label=_("Credentials"),
        required=False,
        max_length=80,
        help_text=_("A name that an administrator gave you; empty for what is open to all."),
    )
    visibility = forms.ChoiceField(
        label=_("Who sees new skills"),
        required=False,
        choices=[
            ("", _("Private: the team alone")),
            (Visibility.SITE, _("Site: everyone who signs in")),
            (Visibility.PUBLIC, _("Public: everyone")),
        ],
    )
    interval_s = forms.TypedChoiceField(
        label=_("Import again"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            ("", _("When somebody asks")),
            (_HOUR, _("Every hour")),
            (24 * _HOUR, _("Every day")),
            (7 * 24 * _HOUR, _("Every week")),
        ],
    )

    def clean(self) -> dict[str, Any]:
        is_upload = self.cleaned_data.get("kind") == SourceKind.ARCHIVE
        if is_upload and not self.cleaned_data.get("content") and "content" not in self.errors:
            self.add_error("content", _("Choose an archive."))
        if not is_upload and not self.cleaned_data.get("location"):
            self.add_error("location", _("Give the address."))
        return self.cleaned_data

    @property
    def options(self) -> dict[str, object]:
        """What the chosen kind may be told."""
        names = _OPTIONS.get(self.cleaned_data["kind"], ())
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data[name]}


class OutcomeFilter(forms.Form):
    outcome = forms.ChoiceField(
        label=_("Outcome"), required=False, choices=[("", _("All")), *ImportOutcome.choices]
    )
