from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import Effect


class RuleForm(forms.Form):
    effect = forms.ChoiceField(label=_("Effect"), widget=forms.RadioSelect)
    name = forms.CharField(
        label=_("Skills"),
        max_length=200,
        help_text=_(
            "team/skill, a skill's short name, or a prefix followed by :*, for example handbook/:* "
            "for all skills of handbook."
        ),
    )
    version = forms.CharField(
        label=_("Version"),
        max_length=64,
        required=False,
        help_text=_(
            "An allow rule allows only the permissions that the version entered here requests. "
            "Leave empty for the latest version."
        ),
    )

    def __init__(self, data: Any = None, *, may_grant: bool) -> None:
        super().__init__(data, initial={"effect": Effect.ALLOW if may_grant else Effect.DENY})
        choices = (
            [(Effect.ALLOW.value, _("Allow: agents can run these skills without approval"))]
            if may_grant
            else []
        )
        choices.append((Effect.DENY.value, _("Deny: these skills can't be run")))
        self.fields["effect"].choices = choices  # type: ignore[attr-defined]
