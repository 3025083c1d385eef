from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.forms.size_field import SizeField, size_text
from worker.retention.policies import MAXIMA, NAMES, Policy

LABELS: dict[str, Promise] = {
    "succeeded_days": _("Successful runs (days)"),
    "failed_days": _("Failed runs (days)"),
    "other_days": _("Cancelled and refused runs (days)"),
    "artifact_days": _("Artifacts (days)"),
    "log_days": _("Logs (days)"),
    "artifact_bytes": _("Maximum total size of a team's artifacts"),
    "keep_last": _("Newest runs to keep per skill"),
}
HELP: dict[str, Promise] = {
    "failed_days": _("Applies to timed out and lost runs too."),
    "artifact_days": _("The run itself is kept."),
    "log_days": _("The run itself is kept."),
    "artifact_bytes": _(
        "For example 500 MB or 10 GB. Above this size, the oldest artifacts are removed first."
    ),
    "keep_last": _("These runs stay, whatever their age."),
}


class RetentionForm(forms.Form):
    """The values of a policy, and the values for which the user has seen a preview. The placeholders are the
    values of ``inherited``, which apply to empty fields.
    """

    previewed = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, policy: Policy, inherited: Policy) -> None:
        super().__init__(data, initial=asdict(policy))
        for name in NAMES:
            kind = SizeField if name == "artifact_bytes" else forms.IntegerField
            self.fields[name] = kind(
                label=str(LABELS[name]),
                required=False,
                min_value=1,
                max_value=MAXIMA[name],
                help_text=str(HELP.get(name, "")),
            )
            self.fields[name].widget.attrs["placeholder"] = _placeholder(name, getattr(inherited, name))

    @property
    def values(self) -> dict[str, int | None]:
        return {name: self.cleaned_data[name] for name in NAMES}

    @property
    def digest(self) -> str:
        """The values joined into one text, to compare with ``previewed``."""
        return ",".join(str(value or "") for value in self.values.values())

    @property
    def is_previewed(self) -> bool:
        return bool(self.cleaned_data["previewed"] == self.digest)

    def mark_previewed(self) -> None:
        """Sets the hidden field ``previewed`` to the current values, before the form is shown again."""
        self.data = {**{name: self.data.get(name) for name in self.fields}, "previewed": self.digest}


def _placeholder(name: str, value: int | None) -> str:
    if value is None:
        return gettext("none") if name == "keep_last" else gettext("no limit")
    return size_text(value) if name == "artifact_bytes" else str(value)
