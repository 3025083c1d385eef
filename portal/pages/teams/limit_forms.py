from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.forms.size_field import SizeField
from worker.quotas.team_limits import MAX_LIMIT, NAMES, LimitUsage

LABELS: dict[str, Promise] = {
    "concurrent_runs": _("Concurrent runs"),
    "runs_per_day": _("Runs per day"),
    "cpu_seconds_per_day": _("CPU seconds per day"),
    "stored_bytes": _("Stored run files"),
}


class TeamLimitsForm(forms.Form):
    """A number for each limit: empty means the site's default, 0 means no limit."""

    def __init__(self, data: Any = None, *, uses: tuple[LimitUsage, ...]) -> None:
        super().__init__(data, initial={use.name: use.limit for use in uses if use.own})
        for name in NAMES:
            kind = SizeField if name == "stored_bytes" else forms.IntegerField
            self.fields[name] = kind(
                label=str(LABELS[name]),
                required=False,
                min_value=0,
                max_value=MAX_LIMIT,
                help_text=_("For example 500 MB or 10 GB.") if name == "stored_bytes" else "",
            )
