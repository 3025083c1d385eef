"""Forms of subscriptions to notifications and of the delivery log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from worker.delivery.recipients import DEFAULT_KINDS
from worker.models import DeliveryChannel, DeliveryState, Digest, NotificationKind


class SubscriptionForm(forms.Form):
    channel = forms.ChoiceField(label=_("Channel"), choices=DeliveryChannel.choices)
    kinds = forms.MultipleChoiceField(
        label=_("Notifications"),
        choices=NotificationKind.choices,
        initial=DEFAULT_KINDS,
        widget=forms.CheckboxSelectMultiple,
    )
    address = forms.CharField(
        label=_("Address"), max_length=1000, required=False, help_text=_("A URL, or a team's e-mail address.")
    )
    secret = forms.CharField(
        label=_("Secret"),
        max_length=500,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Signs webhooks (at least 16 characters), Feishu and DingTalk."),
    )
    digest = forms.ChoiceField(label=_("Frequency"), choices=Digest.choices)
    skill = forms.CharField(
        label=_("Skill"), max_length=140, required=False, help_text=_("team/slug; empty for every skill.")
    )
    use_required_attribute = False


class DeliveryFilterForm(forms.Form):
    state = forms.ChoiceField(
        label=_("Status"), choices=[("", _("Any")), *DeliveryState.choices], required=False
    )
    channel = forms.ChoiceField(
        label=_("Channel"), choices=[("", _("Any")), *DeliveryChannel.choices], required=False
    )

    @property
    def lookups(self) -> dict[str, Any]:
        """The chosen filters of the delivery log; none if the query is invalid."""
        values = self.cleaned_data if self.is_valid() else {}
        names = {"state": "state", "channel": "subscription__channel"}
        return {lookup: values[name] for name, lookup in names.items() if values.get(name)}
