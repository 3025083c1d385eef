"""Forms of imports: a new source, and the filter of a report."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.forms.team_choice import TeamChoiceForm
from portal.forms.version_changes import VISIBILITIES
from registry.models import ImportOutcome, SourceKind

_HOUR = 3600
_OPTIONS = {
    SourceKind.GIT: ("branch", "tags", "path", "credentials"),
    SourceKind.URL: ("credentials",),
    SourceKind.MCP: ("credentials",),
}


class ImportForm(TeamChoiceForm):
    kind = forms.ChoiceField(
        label=_("Source type"),
        choices=[
            (SourceKind.GIT, _("Git repository")),
            (SourceKind.URL, _("URL of an archive, SKILL.md or bucket")),
            (SourceKind.MCP, _("MCP server prompts")),
            (SourceKind.ARCHIVE, _("Uploaded archive with several skills")),
        ],
        widget=forms.RadioSelect,
        initial=SourceKind.GIT,
    )
    location = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=2000,
        help_text=_(
            "For example https://git.example/team/skills.git, https://…/skills.zip or s3://bucket/skills/."
        ),
    )
    content = forms.FileField(
        label=_("Archive"),
        required=False,
        help_text=_("A .zip or .tar.gz file with one folder per skill; each folder contains a SKILL.md."),
        widget=forms.FileInput(attrs={"accept": ".zip,.tar.gz,.tgz"}),
    )
    branch = forms.CharField(
        label=_("Branch"),
        required=False,
        max_length=300,
        help_text=_("Leave empty for the default branch."),
    )
    tags = forms.BooleanField(label=_("Import each version tag (like v1.2.0) as a version"), required=False)
    path = forms.CharField(
        label=_("Folder in the repository"),
        required=False,
        max_length=300,
        help_text=_("Leave empty for the whole repository."),
    )
    credentials = forms.CharField(
        label=_("Credentials"),
        required=False,
        max_length=80,
        help_text=_("Ask an administrator for the name of the credentials; leave empty for a public source."),
    )
    visibility = forms.ChoiceField(
        label=_("Visibility of new skills"),
        required=False,
        choices=[("", VISIBILITIES[0][1]), *VISIBILITIES[1:]],
    )
    interval_s = forms.TypedChoiceField(
        label=_("Import again"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            ("", _("On demand")),
            (_HOUR, pgettext_lazy("interval", "Every hour")),
            (24 * _HOUR, pgettext_lazy("interval", "Every day")),
            (7 * 24 * _HOUR, _("Every week")),
        ],
    )

    def clean(self) -> dict[str, Any]:
        is_upload = self.cleaned_data.get("kind") == SourceKind.ARCHIVE
        if is_upload and not self.cleaned_data.get("content") and "content" not in self.errors:
            self.add_error("content", forms.ValidationError(_("Choose an archive."), code="required"))
        if not is_upload and not self.cleaned_data.get("location"):
            self.add_error("location", forms.ValidationError(_("Enter an address."), code="required"))
        return self.cleaned_data

    @property
    def options(self) -> dict[str, object]:
        """The options that the chosen kind of source supports, without empty ones."""
        names = _OPTIONS.get(self.cleaned_data["kind"], ())
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data[name]}


class OutcomeFilter(forms.Form):
    outcome = forms.ChoiceField(
        label=_("Outcome"), required=False, choices=[("", _("All")), *ImportOutcome.choices]
    )
