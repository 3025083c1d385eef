from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from worker.sharing.links import DEFAULT_DAYS, LinkOptions


class ShareForm(forms.Form):
    inputs = forms.BooleanField(label=_("Also show the inputs"), required=False)
    log = forms.BooleanField(label=_("Also show the log"), required=False)
    artifacts = forms.BooleanField(label=_("Also share the output files"), required=False)
    days = forms.TypedChoiceField(
        label=_("Expires after"),
        choices=((1, _("1 day")), (DEFAULT_DAYS, _("7 days")), (30, _("30 days")), (90, _("90 days"))),
        coerce=int,
        initial=DEFAULT_DAYS,
    )

    def options(self) -> LinkOptions:
        return LinkOptions(**self.cleaned_data)
