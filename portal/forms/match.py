"""What somebody needs, as the address of the try-it page says it."""

from __future__ import annotations

from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.matching import Request
from registry.models import FeedbackOutcome

_MOST_CHARACTERS = 4000  # of a sentence: an address has to hold it
_MOST_PATHS = 100


class MatchForm(forms.Form):
    q = forms.CharField(
        label=_("What do you need?"),
        required=False,
        max_length=_MOST_CHARACTERS,
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
    paths = forms.CharField(
        label=_("Files that are worked on"),
        required=False,
        max_length=_MOST_CHARACTERS,
        help_text=_("One path a line. Skills for certain files appear only where one of theirs is named."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows code"}),
    )
    use_required_attribute = False

    def clean_paths(self) -> tuple[str, ...]:
        lines = (line.strip() for line in self.cleaned_data["paths"].splitlines())
        paths = tuple(line for line in lines if line)
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
    q = forms.CharField(required=False, max_length=_MOST_CHARACTERS)
    intent = forms.CharField(required=False, max_length=200)
    event = forms.CharField(required=False, max_length=200)
    paths = forms.CharField(required=False, max_length=_MOST_CHARACTERS)

    @property
    def question(self) -> str:
        """The query of the address that asked."""
        given = {name: self.cleaned_data[name] for name in MatchForm.base_fields}
        return urlencode({name: value for name, value in given.items() if value})
