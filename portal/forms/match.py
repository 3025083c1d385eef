"""What somebody needs, as the address of the try-it page says it."""

from __future__ import annotations

from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.paths import MOST_CHARACTERS, ForPaths
from registry.matching import Request
from registry.models import FeedbackOutcome

_MOST_PATHS = 100


class MatchForm(ForPaths):
    q = forms.CharField(
        label=_("What do you need?"),
        required=False,
        max_length=MOST_CHARACTERS,
        help_text=_("A sentence, in English or Chinese, as you would say it to a colleague or an agent."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows"}),
    )
    intent = forms.CharField(
        label=_("Intent"),
        required=False,
        max_length=200,
        help_text=_("The name of what is meant, such as summarize_documents."),
    )
    event = forms.CharField(
        label=_("Event type"),
        required=False,
        max_length=200,
        help_text=_("What happened, such as ticket.closed."),
    )
    field_order = ("q", "intent", "event", "paths")
    use_required_attribute = False

    def clean_paths(self) -> tuple[str, ...]:
        paths = super().clean_paths()
        if len(paths) > _MOST_PATHS:
            raise forms.ValidationError(_("Name at most %(most)s files."), params={"most": _MOST_PATHS})
        return paths

    @property
    def request(self) -> Request:
        given = self.cleaned_data
        return Request(given["q"], given["intent"], given["event"], given["paths"])


class FeedbackForm(forms.Form):
    """A skill, what is said of it, and the question that found it."""

    skill = forms.CharField(max_length=130)
    outcome = forms.ChoiceField(
        choices=[(each, each) for each in (FeedbackOutcome.WORKED, FeedbackOutcome.WRONG_SKILL)]
    )
    q = forms.CharField(required=False, max_length=MOST_CHARACTERS)
    intent = forms.CharField(required=False, max_length=200)
    event = forms.CharField(required=False, max_length=200)
    paths = forms.CharField(required=False, max_length=MOST_CHARACTERS)

    @property
    def question(self) -> str:
        """The query of the address that asked."""
        given = {name: self.cleaned_data[name] for name in MatchForm.field_order}
        return urlencode({name: value for name, value in given.items() if value})
