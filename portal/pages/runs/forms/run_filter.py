"""The filters of a list of runs, kept in the URL so that Back and bookmarks work."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.core.time import rfc3339
from registry.identity.actors import Actor
from worker.models import Run, RunLabel, RunQuerySet, RunStatus
from worker.queue.states import WAITING
from worker.run_views.cause import FAILED
from worker.runs.filters import filter_runs

_COUNTED = 2_000  # number of newest runs whose values are counted
_MAX_CHOICES = 40
_SET_BY_LINKS = ("request_id", "error_group", "ids")
_COLUMNS = {
    "status": "status",
    "skill": "skill_label",
    "version": "version_number",
    "team": "team__slug",
    "failure_code": "failure_code",
    "caller": "caller__username",
}
_SINCE = {
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}


class RunFilter(forms.Form):
    """The filters of a list of runs. ``offer_values`` adds the values of the newest runs, with counts, to the
    choices.
    """

    status = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[
            ("", _("Any status")),
            ("waiting", _("Waiting")),
            ("failure", _("All failures")),
            *RunStatus.choices,
        ],
    )
    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    version = forms.CharField(label=_("Version"), required=False, max_length=64)
    team = forms.CharField(label=_("Team"), required=False, max_length=64)
    failure_code = forms.CharField(label=_("Failure code"), required=False, max_length=64)
    caller = forms.CharField(label=_("Started by"), required=False, max_length=150)
    since = forms.ChoiceField(
        label=_("Period"),
        required=False,
        choices=[
            ("", _("Any time")),
            ("1h", _("Last hour")),
            ("24h", _("Last 24 hours")),
            ("7d", _("Last 7 days")),
            ("30d", _("Last 30 days")),
        ],
    )
    label = forms.CharField(label=_("Label"), required=False, max_length=40)
    pinned = forms.ChoiceField(
        label=pgettext_lazy("run", "Pinned"),
        required=False,
        choices=[("", _("All runs")), ("1", _("Only pinned runs"))],
    )
    request_id = forms.CharField(
        label=_("Request ID"),
        required=False,
        max_length=64,
        help_text=_("Only runs whose content you can read."),
    )
    error_group = forms.CharField(label=_("Error group"), required=False, max_length=26)
    ids = forms.CharField(label=pgettext_lazy("list", "Runs"), required=False, max_length=4000)
    use_required_attribute = False

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        for name in _SET_BY_LINKS:  # only links set these filters
            if not data.get(name):
                self.fields.pop(name)

    def without_skill(self) -> None:
        """Removes the skill field, for the list of one skill's runs."""
        self.fields.pop("skill")

    def offer_values(self, runs: RunQuerySet, actor: Actor) -> None:
        """Makes the fields selects with the values that occur in the newest of ``runs``."""
        self._offer("label", Counter(_newest_labels(runs, actor)))
        rows = list(runs.order_by("-id").values_list(*_COLUMNS.values())[:_COUNTED])
        for place, name in enumerate(_COLUMNS):
            if name in self.fields:
                self._offer(name, Counter(row[place] for row in rows if row[place]))

    def _offer(self, name: str, counts: Counter[str]) -> None:
        if name == "status":
            choices = self.fields["status"].choices  # type: ignore[attr-defined]
            rows = [(value, _counted(label, counts[value])) for value, label in choices]
            self.fields["status"].widget.choices = rows
            return
        fixed: list[tuple[str, Any]] = [("", _("All"))]
        if name == "caller":
            fixed = [("", _("Anyone")), ("me", _("Me")), ("agents", _("Agents")), ("people", _("People"))]
        rows = [(value, _counted(value, count)) for value, count in counts.most_common(_MAX_CHOICES)]
        chosen = str(self.data.get(name) or "")
        if chosen and chosen not in dict(fixed) and chosen not in counts:
            rows.append((chosen, chosen))
        self.fields[name].widget = forms.Select(choices=[*fixed, *rows])

    def narrow(self, runs: RunQuerySet, *, actor: Actor) -> RunQuerySet:
        """The runs that match all filters; invalid filters are ignored."""
        return filter_runs(runs, self.criteria(), actor)

    def criteria(self) -> dict[str, Any]:
        """The valid filters that are set, as ``filter_runs`` and run batches read them."""
        self.is_valid()
        given = {name: value for name, value in self.cleaned_data.items() if value}
        if status := given.get("status"):
            given["status"] = sorted(_STATUSES.get(status, [status]))
        if code := given.get("failure_code"):
            given["failure_code"] = code.upper()
        if since := given.get("since"):
            given["since"] = rfc3339(timezone.now() - _SINCE[since])
        if given.get("pinned"):
            given["pinned"] = True
        return given

    def given(self) -> list[tuple[str, str]]:
        """Names and values of the valid filters that are set, for hidden fields."""
        return [(name, self.data[name]) for name in self.criteria()]

    def unknown(self, parameters: Iterable[str]) -> list[str]:
        """The parameters that are not filters. Callers refuse them, because a misspelled filter would list
        all runs.
        """
        return sorted({*parameters} - {*self.fields, *_SET_BY_LINKS})

    @property
    def is_set(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


def filter_rows(criteria: Mapping[str, Any]) -> list[tuple[Any, str, Any]]:
    """Label, name and value of each filter of a run batch, for display."""
    labels = {name: field.label for name, field in RunFilter.base_fields.items()} | _LABELS
    return [(labels.get(name, name), name, value) for name, value in criteria.items()]


def _newest_labels(runs: RunQuerySet, actor: Actor) -> list[str]:
    """The labels on ``runs`` that the actor can read, one per use, newest uses first."""
    listed = Exists(runs.filter(pk=OuterRef("run_id")).order_by())
    readable = Exists(Run.objects.readable_by(actor).filter(pk=OuterRef("run_id")))
    labels = RunLabel.objects.filter(listed, readable).order_by("-pk")
    return list(labels.values_list("name", flat=True)[:_COUNTED])


def _counted(label: object, count: int) -> str:
    return f"{label} ({count})" if count else str(label)


_LABELS = {"since": _("Created after"), "until": _("Created before")}
_STATUSES: dict[str, list[str]] = {
    "waiting": list(WAITING),
    "failure": list(FAILED),
}
