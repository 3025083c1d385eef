"""The filters of a list of runs, kept in the URL so that Back and bookmarks work."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.identity.actors import Actor
from worker.models import ErrorGroup, Run, RunLabel, RunQuerySet, RunStatus
from worker.queue.states import WAITING
from worker.run_views.cause import FAILED

_COUNTED = 2_000  # number of newest runs whose values are counted
_MAX_CHOICES = 40
_SET_BY_LINKS = ("request_id", "error_group")
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
        self.is_valid()
        given = self.cleaned_data
        if status := given.get("status"):
            runs = runs.filter(status__in=_STATUSES.get(status, [status]))
        if skill := given.get("skill"):
            runs = runs.of_skill(skill)
        if version := given.get("version"):
            runs = runs.filter(version_number=version)
        if team := given.get("team"):
            runs = runs.filter(team__slug=team)
        if code := given.get("failure_code"):
            runs = runs.filter(failure_code=code.upper())
        if caller := given.get("caller"):
            runs = _started_by(runs, caller, actor)
        if label := given.get("label"):
            runs = runs.with_label(label, actor)
        if given.get("pinned"):
            runs = runs.pinned(actor)
        if request_id := given.get("request_id"):
            readable = Run.objects.readable_by(actor).filter(request_id=request_id)
            runs = runs.filter(pk__in=readable.values("pk"))
        if group := given.get("error_group"):
            groups = ErrorGroup.objects.visible_to(actor).filter(uid=group)
            runs = runs.filter(error_key__in=groups.values("key"))
        if since := given.get("since"):
            runs = runs.filter(created_at__gte=timezone.now() - _SINCE[since])
        return runs

    def unknown(self, parameters: Iterable[str]) -> list[str]:
        """The parameters that are not filters, so that a misspelled filter does not list all runs."""
        return sorted({*parameters} - {*self.fields, *_SET_BY_LINKS})

    @property
    def is_set(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


def _started_by(runs: RunQuerySet, caller: str, actor: Actor) -> RunQuerySet:
    """The runs that a user, the actor ("me"), agents (with tokens) or people started."""
    if caller == "me":
        return runs.filter(caller=actor.user)
    if caller in ("agents", "people"):
        return runs.filter(token_name="") if caller == "people" else runs.exclude(token_name="")
    return runs.filter(caller__username=caller)


def _newest_labels(runs: RunQuerySet, actor: Actor) -> list[str]:
    """The labels on ``runs`` that the actor can read, one per use, newest uses first."""
    labels = RunLabel.objects.filter(run__in=runs.values("pk")).order_by("-pk")
    readable = labels.filter(run__in=Run.objects.readable_by(actor).values("pk"))
    return list(readable.values_list("name", flat=True)[:_COUNTED])


def _counted(label: object, count: int) -> str:
    return f"{label} ({count})" if count else str(label)


_STATUSES: dict[str, list[str]] = {
    "waiting": list(WAITING),
    "failure": list(FAILED),
}
