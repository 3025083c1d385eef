"""The filters of a list of runs, kept in the URL so that Back and bookmarks work."""

from datetime import timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from worker.models import RunQuerySet, RunStatus
from worker.queue.states import WAITING

_SINCE = {
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}


class RunFilter(forms.Form):
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
    code = forms.CharField(label=_("Failure code"), required=False, max_length=64)
    caller = forms.ChoiceField(
        label=_("Started by"), required=False, choices=[("", _("Anyone")), ("me", _("Me"))]
    )
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
    use_required_attribute = False

    def without_skill(self) -> None:
        """Removes the skill field, because the list shows one skill."""
        self.fields.pop("skill")

    def narrow(self, runs: RunQuerySet, *, user_id: int) -> RunQuerySet:
        """The runs that match all valid filters; invalid ones are ignored."""
        self.is_valid()
        given = self.cleaned_data
        if status := given.get("status"):
            runs = runs.filter(status__in=_STATUSES.get(status, [status]))
        if skill := given.get("skill"):
            runs = runs.of_skill(skill)
        if code := given.get("code"):
            runs = runs.filter(failure_code=code.upper())
        if given.get("caller"):
            runs = runs.filter(caller_id=user_id)
        if since := given.get("since"):
            runs = runs.filter(created_at__gte=timezone.now() - _SINCE[since])
        return runs

    @property
    def is_set(self) -> bool:
        return any(self.data.get(name) for name in self.fields)


_STATUSES: dict[str, list[str]] = {
    "waiting": list(WAITING),
    "failure": [RunStatus.FAILED, RunStatus.TIMED_OUT, RunStatus.LOST, RunStatus.REFUSED],
}
