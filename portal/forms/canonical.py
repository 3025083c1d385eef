"""What administrators say about a canonical skill: which, why, and whether a change is answered."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from registry.canonical.proposing import LATEST
from registry.canonical.setting import MIRRORED_EVERY_S
from registry.models import Team

_HOUR = 3600


def _reason(*, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=_("Reason"), max_length=500, required=required, help_text=_("It is kept with your name.")
    )


class ChooseForm(forms.Form):
    """Which skill; what would change is shown before anything is set."""

    skill = forms.CharField(
        label=_("Skill"), max_length=130, help_text=_("As team/slug; it has to be site or public.")
    )
    version = forms.CharField(
        label=_("Version"),
        max_length=64,
        required=False,
        help_text=_("A number or a channel; empty for the latest."),
    )
    use_required_attribute = False


class SetForm(forms.Form):
    """What was shown, and why it is set."""

    skill = forms.CharField(max_length=130, widget=forms.HiddenInput)
    version = forms.CharField(max_length=64, widget=forms.HiddenInput)
    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
    follows = forms.CharField(
        label=_("Propose newer versions of"),
        max_length=32,
        required=False,
        initial=LATEST,
        help_text=_("A channel, or latest; each waits until it is accepted. Empty for none."),
    )
    reason = _reason()
    use_required_attribute = False


class MirrorForm(forms.Form):
    slug = forms.CharField(label=_("Name of the skill"), max_length=64, help_text=_("As its SKILL.md says."))
    location = forms.CharField(
        label=_("Address"),
        max_length=2000,
        help_text=_("https:// to an archive or a SKILL.md, s3:// or gs:// to one or to its folder."),
    )
    team = forms.ModelChoiceField(
        label=_("Team that keeps the copy"),
        queryset=Team.objects.none(),
        empty_label=None,
        to_field_name="slug",
    )
    credentials = forms.CharField(
        label=_("Credentials"),
        required=False,
        max_length=80,
        help_text=_("A name from the site's settings; empty for what is open to all."),
    )
    interval_s = forms.TypedChoiceField(
        label=_("Read again"),
        coerce=int,
        initial=MIRRORED_EVERY_S,
        choices=[
            (_HOUR, _("Every hour")),
            (MIRRORED_EVERY_S, _("Every day")),
            (7 * MIRRORED_EVERY_S, _("Every week")),
        ],
    )
    reason = _reason()
    use_required_attribute = False

    def __init__(self, *args: Any, teams: QuerySet[Team], **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["team"].queryset = teams  # type: ignore[attr-defined]


class DecisionForm(forms.Form):
    """Of what waits: answered from now on, or not proposed again."""

    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
    reason = _reason(required=False)
    use_required_attribute = False


class UnsetForm(forms.Form):
    reason = _reason()
    use_required_attribute = False
