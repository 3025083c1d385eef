"""The form of a team's limits."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.showing.team_limits import LABELS
from worker.team_limits import MOST, NAMES, Use


class TeamLimitsForm(forms.Form):
    """One number each; empty is the site's own, 0 no limit."""

    def __init__(self, data: Any = None, *, uses: tuple[Use, ...]) -> None:
        super().__init__(data, initial={use.name: use.limit for use in uses if use.own})
        for name in NAMES:
            self.fields[name] = forms.IntegerField(
                label=str(LABELS[name]), required=False, min_value=0, max_value=MOST
            )
        self.fields[NAMES[-1]].help_text = _("Empty: the site's own setting. 0: no limit.")
