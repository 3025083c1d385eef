"""The filters of a list of runs, kept in the URL so that Back and bookmarks work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import QueryDict
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.forms.day_input import DayInput
from portal.forms.filter_form import FilterForm
from portal.forms.suggestions import SkillFilterField, skill_criterion
from portal.presenters.content.punctuation import with_aside
from registry.core.time import rfc3339
from registry.identity.actors import Actor
from worker.models import Run, RunLabel, RunQuerySet, RunStatus
from worker.queue.states import WAITING
from worker.run_views.cause import FAILED
from worker.runs.filters import filter_runs

_COUNTED = 1_000  # number of newest runs whose values are counted
_MAX_CHOICES = 40
_SET_BY_LINKS = ("request_id", "error_group", "ids", "day", "days")
_PERIODS = {
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
_STATUS_GROUPS: dict[str, list[str]] = {"waiting": list(WAITING), "failure": list(FAILED)}
_COLUMNS = {
    "status": "status",
    "skill": "skill_label",
    "version": "version_number",
    "team": "team__slug",
    "failure_code": "failure_code",
    "since": "created_at",
    "caller": "caller__username",
    "token": "token_name",
}
_PLACES = {name: place for place, name in enumerate(_COLUMNS)}
_COUNTED_FILTERS = tuple(name for name in _COLUMNS if name != "token")
_Row = tuple[Any, ...]  # values in the order of ``_COLUMNS``


class RunFilter(FilterForm):
    """The filters of a list of runs. ``offer_values`` adds the values of the newest runs, with counts, to the
    choices; if it left older runs out, ``counted`` is the number of runs that it counted.
    """

    counted: int | None = None

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
    skill = SkillFilterField()
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
        help_text=_("Finds only runs whose content you can read."),
    )
    error_group = forms.CharField(label=_("Error group"), required=False, max_length=26)
    ids = forms.CharField(label=pgettext_lazy("list", "Runs"), required=False, max_length=4000)
    day = forms.DateField(label=_("Day (UTC)"), required=False, widget=DayInput)
    days = forms.IntegerField(
        label=_("Number of days, from this day on"), required=False, min_value=1, max_value=366
    )

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        self.counts: dict[str, Counter[str]] = {}
        self.active: dict[str, int] = {}  # numbers of waiting and running runs that match the other filters
        self.listed_statuses: list[str] = []
        for name in _SET_BY_LINKS:  # only links set these filters
            if not data.get(name):
                self.fields.pop(name)

    def without_skill(self) -> None:
        """Removes the skill field, for the list of one skill's runs."""
        self.fields.pop("skill")

    def offer_values(self, runs: RunQuerySet, narrowed: RunQuerySet, actor: Actor) -> None:
        """Makes the fields selects with the values that occur in the newest of ``runs``, or suggests these
        values for the skill. Removes fields without values. ``narrowed`` are the runs that match all filters.

        A value's count is the number of runs in the list if only this filter is changed to the value.
        """
        criteria = self.criteria()
        self._offer("label", Counter(_newest_labels(runs, actor)))
        chosen = {name: value for name, value in self.given() if name in _COUNTED_FILTERS}
        uncounted = {name: criteria[name] for name in criteria.keys() - chosen.keys() - {"skill_contains"}}
        newest = _newest_runs(filter_runs(runs, uncounted, actor), actor)
        listed = _newest_runs(narrowed, actor) if criteria else newest
        self.counted = _COUNTED if _COUNTED in (len(newest.rows), len(listed.rows)) else None
        if "skill" in chosen:
            newest = replace(newest, found_skills=listed.skills)
        for name in self.fields.keys() & set(_COUNTED_FILTERS):
            others = {other: value for other, value in chosen.items() if other != name}
            among = newest.where(others) if name in chosen else listed
            self.counts[name] = among.count(name)
            self._offer(name, self.counts[name])
        self.active = {name: self.counts["status"][name] for name in ("waiting", "running")}
        self.listed_statuses = listed.statuses

    def _offer(self, name: str, counts: Counter[str]) -> None:
        if name == "skill":
            suggested = [(value, str(n)) for value, n in counts.most_common() if "/" in value]
            self.fields[name].suggest(suggested)  # type: ignore[attr-defined]
            return
        fixed: list[tuple[str, Any]] = [("", _("All"))]
        if name in ("status", "since"):
            fixed = list(self.fields[name].choices)  # type: ignore[attr-defined]
        elif name == "caller":
            fixed = [("", _("Anyone")), ("me", _("Me")), ("agents", _("Agents")), ("people", _("People"))]
        values = [value for value, _n in counts.most_common() if value not in dict(fixed)][:_MAX_CHOICES]
        chosen = str(self.cleaned_data.get(name) or "")
        if len(fixed) == 1 and not values and not self.data.get(name):
            del self.fields[name]
            return
        if chosen and chosen not in dict(fixed) and chosen not in values:
            values.append(chosen)
        rows = [(value, _counted(label, counts[value])) for value, label in fixed]
        rows += [(value, _counted(value, counts[value])) for value in values]
        self.fields[name].widget = forms.Select(choices=rows)

    def narrow(self, runs: RunQuerySet, *, actor: Actor) -> RunQuerySet:
        """The runs that match all filters; invalid filters are ignored."""
        return filter_runs(runs, self.criteria(), actor)

    def criteria(self) -> dict[str, Any]:
        """The valid filters that are set, as ``filter_runs`` and run batches read them."""
        given = self._set()
        given |= skill_criterion(given.pop("skill", ""))
        if status := given.get("status"):
            given["status"] = sorted(_STATUS_GROUPS.get(status, [status]))
        if since := given.get("since"):
            given["since"] = rfc3339(timezone.now() - _PERIODS[since])
        days = given.pop("days", 1)
        if day := given.pop("day", None):
            given["since"] = max(given.get("since", ""), _utc(day, time.min))
            last = min(day.toordinal() + days - 1, date.max.toordinal())
            given["until"] = _utc(date.fromordinal(last), time.max)
        if given.get("pinned"):
            given["pinned"] = True
        return given

    def given(self) -> list[tuple[str, str]]:
        """Names and values of the valid filters that are set, for hidden fields."""
        return [(name, str(value)) for name, value in self._set().items()]

    def _set(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}

    @property
    def query(self) -> str:
        """The valid filters that are set, as the query string of the list; "" for none."""
        return urlencode(self.given())

    def clean_failure_code(self) -> str:
        return str(self.cleaned_data["failure_code"]).upper()

    def take_invalid(self) -> list[tuple[str, str, str]]:
        """Name, label and value of each invalid filter. Removes its error from the field, because one notice
        above the form names them all.
        """
        found = [(name, str(self.fields[name].label), self.data.get(name, "")[:80]) for name in self.errors]
        self.errors.clear()
        return found

    def unknown(self, parameters: Iterable[str]) -> list[str]:
        """The parameters that are not filters. Callers refuse them, because a misspelled filter would list
        all runs.
        """
        return sorted({*parameters} - {*self.fields, *_SET_BY_LINKS})


def filter_rows(criteria: Mapping[str, Any]) -> list[tuple[Any, str, Any]]:
    """Label, name and value of each filter of a run batch, for display."""
    labels = {name: field.label for name, field in RunFilter.base_fields.items()} | _LABELS
    labels["skill_contains"] = RunFilter.base_fields["skill"].label
    return [
        (labels.get(name, name), name, datetime.fromisoformat(value) if name in _LABELS else value)
        for name, value in criteria.items()
    ]


def _utc(day: date, at: time) -> str:
    return str(rfc3339(datetime.combine(day, at, UTC)))


def _newest_labels(runs: RunQuerySet, actor: Actor) -> list[str]:
    """The labels on ``runs`` that the actor can read, one per use, newest uses first."""
    listed = Exists(runs.filter(pk=OuterRef("run_id")).order_by())
    readable = Exists(Run.objects.readable_by(actor).filter(pk=OuterRef("run_id")))
    labels = RunLabel.objects.filter(listed, readable).order_by("-pk")
    return list(labels.values_list("name", flat=True)[:_COUNTED])


@dataclass(frozen=True)
class _CountedRuns:
    """The newest runs of a list, counted for the user name ``me`` at the time ``now``. ``found_skills`` match
    the text of the skill filter, some of them by their present name.

    Columns are counted as a whole, because a page counts thousands of runs.
    """

    rows: Sequence[_Row]
    me: str
    now: datetime
    found_skills: frozenset[str] = frozenset()

    @property
    def statuses(self) -> list[str]:
        return self._column("status")

    @property
    def skills(self) -> frozenset[str]:
        return frozenset(self._column("skill"))

    def where(self, chosen: Mapping[str, str]) -> _CountedRuns:
        """The runs that match all these filters."""
        rows = self.rows
        for name, value in chosen.items():
            rows = [row for row in rows if self._matches(row, name, value)]
        return replace(self, rows=rows)

    def count(self, name: str) -> Counter[str]:
        """The number of runs that match each choice of the filter ``name``."""
        column = self._column(name)
        if name == "since":
            starts = {period: self.now - age for period, age in _PERIODS.items()}
            counts = Counter({period: sum(at >= start for at in column) for period, start in starts.items()})
        else:
            counts = Counter(column)
        if name == "status":
            counts |= {group: sum(counts[each] for each in found) for group, found in _STATUS_GROUPS.items()}
        if name == "caller":
            agents = sum(map(bool, self._column("token")))
            counts += Counter(agents=agents, people=len(column) - agents, me=counts[self.me])
        return Counter({value: number for value, number in counts.items() if value and number})

    def _matches(self, row: _Row, name: str, value: str) -> bool:
        found = row[_PLACES[name]]
        if name == "since":
            return bool(found >= self.now - _PERIODS[value])
        if name == "status":
            return found == value or found in _STATUS_GROUPS.get(value, ())
        if name == "skill" and found != value:
            is_part = "/" not in value and value.casefold() in found.casefold()
            return is_part or found in self.found_skills
        if name == "caller" and value in ("agents", "people"):
            return bool(row[_PLACES["token"]]) is (value == "agents")
        return bool(found == (self.me if (name, value) == ("caller", "me") else value))

    def _column(self, name: str) -> list[Any]:
        return list(map(itemgetter(_PLACES[name]), self.rows))


def _newest_runs(runs: RunQuerySet, actor: Actor) -> _CountedRuns:
    """The newest of ``runs``, at most ``_COUNTED``."""
    me = actor.user.get_username() if actor.user else ""
    found = runs.order_by("-id").values_list(*_COLUMNS.values())[:_COUNTED]
    return _CountedRuns(list(found), me, timezone.now())


def _counted(label: object, count: int) -> str:
    return with_aside(label, count) if count else str(label)


_LABELS = {"since": _("Created after"), "until": _("Created before")}
