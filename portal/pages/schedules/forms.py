"""Forms of a schedule, without the inputs of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.forms.filter_form import FilterForm
from portal.forms.suggestions import MAX_SUGGESTIONS, SkillFilterField, SuggestionInput, skill_criterion
from portal.presenters.content.cron import cron_words
from registry.identity.actors import Actor
from worker.models import CatchUpPolicy, OverlapPolicy, ScheduleKind, ScheduleQuerySet, ScheduleState
from worker.schedules.change import MAX_NAME, ScheduleOptions
from worker.schedules.plan import MAX_CATCH_UP
from worker.schedules.timing import MAX_JITTER_S, time_zones

UNITS = {"minutes": 60, "hours": 3600, "days": 86_400}
_KINDS = [
    (ScheduleKind.CRON.value, _("By cron expression")),
    (ScheduleKind.INTERVAL.value, _("At a fixed interval")),
    (ScheduleKind.ONCE.value, _("Once")),
]
_ZONES = sorted(name for name in time_zones() if "/" in name and not name.startswith(("Etc/", "posix/")))
_EXAMPLES = (
    *("0 9 * * *", "0 9 * * 1-5", "0 9 * * 1", "0 0 * * 0", "0 8 1 * *"),
    *("0 9,13,17 * * 1-5", "0 * * * *", "*/15 * * * *", "0 */6 * * *"),
)
MISSED_RUNS = {
    CatchUpPolicy.NONE.value: _("Skip missed runs"),
    CatchUpPolicy.LAST.value: _("Start the last missed run"),
    CatchUpPolicy.ALL.value: _("Start all missed runs, up to the limit"),
}


class ScheduleForm(forms.Form):
    """The timing and policies of a schedule. ``versions`` and ``names`` are the choices of ``version`` and
    ``run_as``.
    """

    use_required_attribute = False
    name = forms.CharField(label=_("Name"), max_length=MAX_NAME, required=False)
    kind = forms.ChoiceField(label=_("Timing"), choices=_KINDS)
    cron = forms.CharField(
        label=_("Cron expression"),
        max_length=100,
        required=False,
        help_text=_("Minute, hour, day of month, month, day of week. 0 9 * * 1-5 is 9:00, Monday to Friday."),
    )
    every = forms.IntegerField(label=_("Every"), min_value=1, max_value=10_000, required=False)
    unit = forms.ChoiceField(
        label=_("Unit"),
        choices=[("minutes", _("Minutes")), ("hours", _("Hours")), ("days", pgettext_lazy("unit", "Days"))],
    )
    at = forms.DateTimeField(
        label=_("Date and time"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
    )
    time_zone = forms.CharField(label=_("Time zone"), max_length=64)
    version = forms.ChoiceField(label=_("Version"))
    run_as = forms.ChoiceField(label=_("Runs as"))
    overlap = forms.ChoiceField(label=_("Overlap with an earlier run"), choices=OverlapPolicy.choices)
    catch_up = forms.ChoiceField(label=_("Missed runs"), choices=list(MISSED_RUNS.items()))
    catch_up_limit = forms.IntegerField(
        label=_("Maximum number of missed runs to start"), min_value=1, max_value=MAX_CATCH_UP, required=False
    )
    jitter_s = forms.IntegerField(
        label=_("Maximum random delay in seconds"),
        min_value=0,
        max_value=MAX_JITTER_S,
        required=False,
        help_text=_("Delays each run by up to this time, so that not all runs start at once."),
    )

    def __init__(
        self, *, versions: Sequence[tuple[str, Any]], names: Sequence[tuple[str, Any]], **more: Any
    ) -> None:
        super().__init__(**more)
        self.fields["version"].choices = versions  # type: ignore[attr-defined]
        self.fields["run_as"].choices = names  # type: ignore[attr-defined]
        for name in ("cron", "every", "at"):  # each is shown only for its kind of timing
            self.fields[name].needed = True  # type: ignore[attr-defined]
        examples = [(each, cron_words(each)) for each in _EXAMPLES]
        self.fields["cron"].widget = SuggestionInput(examples, maxlength="100")
        self.fields["time_zone"].widget = SuggestionInput(
            sorted(name for name in time_zones() if "/" in name)
        )

    def clean(self) -> dict[str, Any]:
        """Requires the field that belongs to the chosen kind of timing."""
        cleaned = super().clean() or {}
        field = {"cron": "cron", "interval": "every", "once": "at"}.get(cleaned.get("kind", ""))
        if field and not cleaned.get(field) and field not in self.errors:
            self.add_error(field, forms.ValidationError(_("This field is required."), code="required"))
        return cleaned

    @property
    def has_rare_policies(self) -> bool:
        """Whether the policies of missed runs and delays are not those of a new schedule, or have errors."""
        names = ("catch_up", "catch_up_limit", "jitter_s")
        usual = (CatchUpPolicy.NONE.value, "10", "0")
        values = [str(self[name].value() or 0) for name in names]
        return values != list(usual) or any(self[name].errors for name in names)

    def timing(self) -> dict[str, Any]:
        """The timing, as fields of ScheduleOptions."""
        given, kind = self.cleaned_data, self.cleaned_data["kind"]
        zone = given["time_zone"]
        at: datetime | None = given["at"] if kind == ScheduleKind.ONCE else None
        if at and zone in time_zones():
            at = at.replace(tzinfo=ZoneInfo(zone))
        every = given["every"] * UNITS[given["unit"]] if kind == ScheduleKind.INTERVAL else None
        cron = given["cron"] if kind == ScheduleKind.CRON else ""
        return {"cron": cron, "every_s": every, "at": at, "time_zone": zone}

    def settings(self) -> dict[str, Any]:
        """All other settings, as fields of ScheduleOptions."""
        given = self.cleaned_data
        kind, _colon, name = given["version"].partition(":")
        by, _colon, who = given["run_as"].partition(":")
        return {
            "name": given["name"],
            "overlap": given["overlap"],
            "catch_up": given["catch_up"],
            "catch_up_limit": given["catch_up_limit"] or 10,
            "jitter_s": given["jitter_s"] or 0,
            "version": name if kind == "version" else "",
            "channel": name if kind == "channel" else "",
            "run_as": who if by == "user" else "",
            "token": who if by == "token" else "",
        }


class PauseForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=500, required=False)


class ScheduleFilter(FilterForm):
    """The filters of the list. Invalid values are ignored."""

    state = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("All")), *ScheduleState.choices]
    )
    skill = SkillFilterField()

    def narrow(self, schedules: ScheduleQuerySet, actor: Actor) -> ScheduleQuerySet:
        """The schedules that match all valid filters."""
        self.is_valid()
        if state := self.cleaned_data.get("state"):
            schedules = schedules.filter(state=state)
        criterion = skill_criterion(self.cleaned_data.get("skill", ""))
        if skill := criterion.get("skill"):
            schedules = schedules.filter(skill_label=skill)
        if text := criterion.get("skill_contains"):
            schedules = schedules.of_skills_containing(text, actor)
        return schedules

    def suggest_skills(self, schedules: ScheduleQuerySet) -> None:
        """Suggests the skills of the schedules that changed last."""
        labels = schedules.order_by("-pk").values_list("skill_label", flat=True)[: 5 * MAX_SUGGESTIONS]
        self.fields["skill"].suggest(labels)  # type: ignore[attr-defined]


def initial_of(options: ScheduleOptions) -> dict[str, Any]:
    """The initial values of a ScheduleForm for the options."""
    kind = ScheduleKind.CRON
    initial: dict[str, Any] = {"unit": "minutes"}
    if options.every_s:
        kind = ScheduleKind.INTERVAL
        fitting = [name for name, seconds in UNITS.items() if options.every_s % seconds == 0]
        unit = fitting[-1] if fitting else "minutes"
        initial |= {"unit": unit, "every": max(options.every_s // UNITS[unit], 1)}
    if options.at:
        kind = ScheduleKind.ONCE
        initial["at"] = options.at.astimezone(ZoneInfo(options.time_zone)).replace(tzinfo=None)
    by = f"token:{options.token}" if options.token else f"user:{options.run_as}"
    followed = f"version:{options.version}" if options.version else f"channel:{options.channel or 'latest'}"
    copied = ("name", "cron", "time_zone", "overlap", "catch_up", "catch_up_limit", "jitter_s")
    return {
        **initial,
        **{name: getattr(options, name) for name in copied},
        "kind": kind.value,
        "version": followed,
        "run_as": by,
    }
