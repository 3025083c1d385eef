"""The form of a rule."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import Effect


class RuleForm(forms.Form):
    effect = forms.ChoiceField(label=_("What it does"), widget=forms.RadioSelect)
    name = forms.CharField(
        label=_("Skills"),
        max_length=200,
        help_text=_("team/skill, a skill's short name, or the beginning of one and :* as in docs/:*."),
    )
    version = forms.CharField(
        label=_("Version"),
        max_length=64,
        required=False,
        help_text=_("An allowance holds for what this version asks for. Empty: the latest."),
    )

    def __init__(self, data: Any = None, *, may_grant: bool) -> None:
        super().__init__(data, initial={"effect": Effect.ALLOW if may_grant else Effect.DENY})
        choices = [(Effect.ALLOW.value, _("Allow: agents run them unasked"))] if may_grant else []
        choices.append((Effect.DENY.value, _("Deny: nobody runs them")))
        self.fields["effect"].choices = choices  # type: ignore[attr-defined]
