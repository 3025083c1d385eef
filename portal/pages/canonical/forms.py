"""Forms for administrators of canonical skills."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.forms.team_choice import TeamChoiceForm
from registry.canonical.pins import MIRROR_INTERVAL_S
from registry.canonical.proposals import LATEST

_HOUR = 3600


def _reason(*, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=_("Reason"), max_length=500, required=required, help_text=_("Recorded with your name.")
    )


class ChooseForm(forms.Form):
    """The first step: names a skill and a version. The next page shows a preview of the change."""

    skill = forms.CharField(
        label=_("Skill"),
        max_length=130,
        help_text=_("Enter team/skill; the skill's visibility must be Site or Public."),
    )
    version = forms.CharField(
        label=_("Version"),
        max_length=64,
        required=False,
        help_text=_("A version number or channel; leave empty for the latest."),
    )
    use_required_attribute = False


class SetForm(forms.Form):
    """The second step: confirms the version in the preview and gives a reason."""

    skill = forms.CharField(max_length=130, widget=forms.HiddenInput)
    version = forms.CharField(max_length=64, widget=forms.HiddenInput)
    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
    tracked_channel = forms.CharField(
        label=_("Channel to follow"),
        max_length=32,
        required=False,
        initial=LATEST,
        help_text=_(
            "A channel name, or latest. New versions of the channel are proposed "
            "automatically; an administrator must accept each version. Leave empty for no "
            "proposals."
        ),
    )
    reason = _reason()
    use_required_attribute = False


class MirrorForm(TeamChoiceForm):
    slug = forms.CharField(
        label=_("Skill name"),
        max_length=64,
        help_text=_("Must be the same as the name field in the skill's SKILL.md."),
    )
    location = forms.CharField(
        label=_("Address"),
        max_length=2000,
        help_text=_(
            "An https:// address of an archive or SKILL.md, or an s3:// or gs:// address of an "
            "archive, SKILL.md or folder."
        ),
    )
    credentials = forms.CharField(
        label=_("Credentials"),
        required=False,
        max_length=80,
        help_text=_("The name of credentials in the site's settings; leave empty for a public source."),
    )
    interval_s = forms.TypedChoiceField(
        label=_("Update interval"),
        coerce=int,
        initial=MIRROR_INTERVAL_S,
        choices=[
            (_HOUR, pgettext_lazy("interval", "Every hour")),
            (MIRROR_INTERVAL_S, pgettext_lazy("interval", "Every day")),
            (7 * MIRROR_INTERVAL_S, _("Every week")),
        ],
    )
    reason = _reason()
    field_order = ("slug", "location", "team")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.team_field.label = _("Team that owns the copy")


class ProposalDecisionForm(forms.Form):
    """Accepts or rejects a proposed version."""

    digest = forms.CharField(max_length=71, widget=forms.HiddenInput)
    reason = _reason(required=False)
    use_required_attribute = False


class UnsetForm(forms.Form):
    reason = _reason()
    use_required_attribute = False
