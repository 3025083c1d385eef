"""Forms of matching: the request, kept in the URL, and feedback."""

from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.forms.paths import MAX_CHARACTERS, PathsForm
from registry.matching.match import MatchQuery
from registry.models import FeedbackOutcome

_MAX_PATHS = 100


class MatchForm(PathsForm):
    q = forms.CharField(
        label=_("What do you need?"),
        required=False,
        max_length=MAX_CHARACTERS,
        help_text=_("Write a sentence in English or Chinese, as you would to a colleague or an agent."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows"}),
    )
    intent = forms.CharField(
        label=_("Intent"),
        required=False,
        max_length=200,
        help_text=_("The name of an intent, for example summarize_documents."),
    )
    event = forms.CharField(
        label=_("Event type"),
        required=False,
        max_length=200,
        help_text=_("The type of an event, for example ticket.closed."),
    )
    field_order = ("q", "intent", "event", "paths")
    use_required_attribute = False

    def clean_paths(self) -> tuple[str, ...]:
        paths = super().clean_paths()
        if len(paths) > _MAX_PATHS:
            raise forms.ValidationError(_("Enter at most %(most)s file paths."), params={"most": _MAX_PATHS})
        return paths

    @property
    def request(self) -> MatchQuery:
        given = self.cleaned_data
        return MatchQuery(given["q"], given["intent"], given["event"], given["paths"])


class FeedbackForm(forms.Form):
    """Feedback about a skill, with the match request that returned the skill."""

    skill = forms.CharField(max_length=130)
    outcome = forms.ChoiceField(
        choices=[(each, each) for each in (FeedbackOutcome.WORKED, FeedbackOutcome.WRONG_SKILL)]
    )
    q = forms.CharField(required=False, max_length=MAX_CHARACTERS)
    intent = forms.CharField(required=False, max_length=200)
    event = forms.CharField(required=False, max_length=200)
    paths = forms.CharField(required=False, max_length=MAX_CHARACTERS)
    is_test = forms.BooleanField(required=False)  # whether the page that tests matching has the form

    @property
    def query_string(self) -> str:
        """The match request as a query string, without empty fields."""
        given = {name: self.cleaned_data[name] for name in MatchForm.field_order}
        return urlencode({name: value for name, value in given.items() if value})
