"""Forms of memory: filters of the list, and edits of a proposal."""

from datetime import timedelta

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from portal.forms.filter_form import FilterForm
from registry.identity.actors import Actor
from worker.memory.owners import Owner
from worker.memory.store import MemoryQuery
from worker.models import MemoryType
from worker.protocols.formats.traces import MAX_CONTENT_LENGTH

_SINCE = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
_IMPORTANCE = [
    ("1", _("Importance 1 of 5: temporary")),
    ("2", _("Importance 2 of 5: short-term")),
    ("3", _("Importance 3 of 5: medium-term")),
    ("4", _("Importance 4 of 5: long-term")),
    ("5", _("Importance 5 of 5: essential")),
]
_LEAST_IMPORTANCE = [
    ("2", _("2 or higher")),
    ("3", _("3 or higher")),
    ("4", _("4 or higher")),
    ("5", "5"),
]


class MemoryFilter(FilterForm):
    q = forms.CharField(label=_("Search terms"), required=False, max_length=500)
    type = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("Any kind")), *MemoryType.choices]
    )
    importance = forms.ChoiceField(
        label=_("Importance"), required=False, choices=[("", _("Any")), *_LEAST_IMPORTANCE]
    )
    skill = forms.CharField(label=_("Skill"), required=False, max_length=130)
    since = forms.ChoiceField(
        label=_("Period"),
        required=False,
        choices=[
            ("", _("Any time")),
            ("24h", _("Last 24 hours")),
            ("7d", _("Last 7 days")),
            ("30d", _("Last 30 days")),
        ],
    )

    def query(self, actor: Actor, owner: Owner) -> MemoryQuery:
        """The query with all filters except ``q``; invalid filters are ignored."""
        self.is_valid()
        given = self.cleaned_data
        since = _SINCE.get(given.get("since", ""))
        return MemoryQuery(
            actor=actor,
            owner=owner,
            types=frozenset({given["type"]} if given.get("type") else ()),
            skill=given.get("skill", ""),
            importance=int(given.get("importance") or 1),
            since=timezone.now() - since if since else None,
        )

    @property
    def words(self) -> str:
        return str(self.cleaned_data.get("q", "")) if self.is_valid() else ""


class ProposalForm(forms.Form):
    content = forms.CharField(
        label=_("Remembered text"), widget=forms.Textarea(attrs={"rows": 4}), max_length=MAX_CONTENT_LENGTH
    )
    type = forms.ChoiceField(label=_("Kind"), choices=MemoryType.choices)
    importance = forms.TypedChoiceField(label=_("Importance"), choices=_IMPORTANCE, coerce=int)
