"""The style guide: every component of the pages in all its states."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from portal.presenters.icons import ICONS
from portal.presenters.skill.kind import KINDS
from portal.presenters.skill.strip import strip_of
from portal.presenters.status import TONES
from worker.models import Run, RunStatus

_FAILED_EVERY = 7
_START = datetime(2026, 1, 1, tzinfo=UTC)


class SampleForm(forms.Form):
    """Fields in their three states: optional, required and with an error."""

    name = forms.CharField(
        label=gettext_lazy("Name"), help_text=gettext_lazy("Lowercase letters and hyphens.")
    )
    status = forms.ChoiceField(
        label=gettext_lazy("Status"),
        required=False,
        choices=[("", gettext_lazy("All")), *((status.value, status.label) for status in RunStatus)],
    )
    note = forms.CharField(
        label=gettext_lazy("Note"), required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    is_public = forms.BooleanField(label=gettext_lazy("Public"), required=False)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {
        "icons": sorted(ICONS),
        "statuses": list(TONES),
        "kinds": KINDS.values(),
        "strip": strip_of(_sample_runs()),
        "no_strip": strip_of([]),
        "form": SampleForm(),
        "refused": SampleForm({"name": ""}),
        "tabs": [
            {"url": "#", "label": _("Overview"), "current": True, "count": None},
            {"url": "#", "label": _("Versions"), "current": False, "count": 12},
        ],
        "digest": "sha256:" + "9f" * 32,
    }
    return render(request, "styleguide/page.html", context)


def _sample_runs() -> list[Run]:
    return [
        Run(
            status=RunStatus.FAILED if place % _FAILED_EVERY == 3 else RunStatus.SUCCEEDED,
            created_at=_START - timedelta(hours=place),
        )
        for place in range(28)
    ]
