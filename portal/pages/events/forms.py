"""Forms of events, event subscriptions and webhook endpoints."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from portal.forms.errors import problem_text
from portal.forms.team_choice import TeamChoiceForm
from registry.api.bodies import strict_json
from registry.events.receive import MAX_TYPE_CHARACTERS
from registry.events.webhooks import DEFAULT_OVERLAP_H
from registry.models import EventMode
from registry.packages.problems import Refusal

_SEPARATOR = "  "  # separates a skill from an event type; neither contains two spaces


class EventForm(TeamChoiceForm):
    type = forms.CharField(
        label=_("Type"),
        max_length=MAX_TYPE_CHARACTERS,
        help_text=_(
            "The event type, for example report.filed; skills that react to it are started or proposed."
        ),
    )
    payload = forms.CharField(
        label=_("Payload"),
        initial="{}",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_("A JSON object, passed as inputs to the runs that the event starts."),
    )
    propose = forms.BooleanField(label=_("Only propose matching skills; don't start them"), required=False)

    def clean_payload(self) -> Any:
        try:
            return strict_json(self.cleaned_data["payload"].encode())
        except Refusal as refused:
            raise ValidationError(problem_text(refused.problems[0])) from None


class EventSubscriptionForm(TeamChoiceForm):
    skill_and_type = forms.ChoiceField(label=_("Event type and skill"))
    mode = forms.ChoiceField(
        label=_("When an event arrives"),
        choices=EventMode.choices,
        initial=EventMode.START,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, declared: list[tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        what = self.fields["skill_and_type"]
        assert isinstance(what, forms.ChoiceField)
        what.choices = [(_SEPARATOR.join(pair), f"{pair[1]} → {pair[0]}") for pair in declared]

    @property
    def skill(self) -> str:
        return str(self.cleaned_data["skill_and_type"]).partition(_SEPARATOR)[0]

    @property
    def event_type(self) -> str:
        return str(self.cleaned_data["skill_and_type"]).partition(_SEPARATOR)[2]


class WebhookForm(TeamChoiceForm):
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("Name the system that sends the events."),
    )
    prefix = forms.CharField(  # type: ignore[assignment]  # Django removes declared fields from the class
        label=_("Event type prefix"),
        max_length=100,
        required=False,
        help_text=_("Include the dot: “tracker.” turns issue.closed into tracker.issue.closed."),
    )


class RotationForm(forms.Form):
    overlap_hours = forms.TypedChoiceField(
        label=_("Old secret expiry"),
        coerce=int,
        choices=[
            (DEFAULT_OVERLAP_H, _("after 1 day")),
            (1, _("after 1 hour")),
            (168, _("after 1 week")),
            (0, _("immediately (for a leaked secret)")),
        ],
    )
