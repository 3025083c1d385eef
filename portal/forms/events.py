"""The forms of events, of what they start, and of webhook endpoints."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.forms.of_team import OfTeam
from registry.api.bodies import strict_json
from registry.events.receiving import LONGEST_TYPE
from registry.events.webhooks import OVERLAP_H
from registry.models import EventMode
from registry.packages.problems import Refused

_SEPARATOR = "  "  # between a skill and an event's type; neither holds two blanks where types are offered


class EventForm(OfTeam):
    type = forms.CharField(
        label=_("Type"),
        max_length=LONGEST_TYPE,
        help_text=_("As skills name it in triggers.event_types, such as report.filed."),
    )
    payload = forms.CharField(
        label=_("Payload"),
        initial="{}",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text=_("A JSON object; it becomes the inputs of what is started."),
    )
    propose = forms.BooleanField(label=_("Only propose: start nothing"), required=False)

    def clean_payload(self) -> Any:
        try:
            return strict_json(self.cleaned_data["payload"].encode())
        except Refused as refused:
            problem = refused.problems[0]
            raise ValidationError(f"{problem.message(gettext)} {problem.remedy(gettext)}") from None


class SubscriptionForm(OfTeam):
    what = forms.ChoiceField(label=_("Skill and event type"))
    mode = forms.ChoiceField(
        label=_("When such an event comes"),
        choices=EventMode.choices,
        initial=EventMode.START,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, declared: list[tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        what = self.fields["what"]
        assert isinstance(what, forms.ChoiceField)
        what.choices = [(_SEPARATOR.join(pair), " · ".join(pair)) for pair in declared]

    @property
    def skill(self) -> str:
        return str(self.cleaned_data["what"]).partition(_SEPARATOR)[0]

    @property
    def event_type(self) -> str:
        return str(self.cleaned_data["what"]).partition(_SEPARATOR)[2]


class WebhookForm(OfTeam):
    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("What posts to it, so that you know it later.")
    )
    before_type = forms.CharField(
        label=_("Before each type"),
        max_length=100,
        required=False,
        help_text=_("Such as tracker. with its full stop: issue.closed is then tracker.issue.closed."),
    )


class RotationForm(forms.Form):
    overlap_hours = forms.TypedChoiceField(
        label=_("The old secret signs for"),
        coerce=int,
        choices=[
            (OVERLAP_H, _("a day more")),
            (1, _("an hour more")),
            (168, _("a week more")),
            (0, _("no more: others may know it")),
        ],
    )
