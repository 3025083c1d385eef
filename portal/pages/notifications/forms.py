"""Forms of subscriptions to notifications and of the delivery log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from worker.delivery.recipients import DEFAULT_KINDS
from worker.delivery.subscriptions import WITH_SECRET, SubscriptionOptions, has_address, shown_address
from worker.models import (
    DeliveryChannel,
    DeliveryState,
    Digest,
    NotificationKind,
    NotificationSubscription,
)


class SubscriptionForm(forms.Form):
    channel = forms.ChoiceField(
        label=pgettext_lazy("notification", "Channel"), choices=DeliveryChannel.choices
    )
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
        help_text=_(
            "Signs messages to webhooks, Feishu and DingTalk; webhooks need a secret of at "
            "least 16 characters."
        ),
    )
    digest = forms.ChoiceField(label=_("Frequency"), choices=Digest.choices)
    skill = forms.CharField(
        label=_("Skill"), max_length=140, required=False, help_text=_("team/skill; empty for every skill.")
    )
    use_required_attribute = False


class SubscriptionChangeForm(forms.Form):
    """The settings of a subscription that can change. Fields that its channel does not use are omitted.

    The current address and secret are not shown; an empty field keeps them.
    """

    use_required_attribute = False
    kinds = SubscriptionForm.base_fields["kinds"]
    digest = SubscriptionForm.base_fields["digest"]
    address = forms.CharField(label=_("New address"), max_length=1000, required=False)
    secret = forms.CharField(
        label=_("New secret"),
        max_length=500,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Leave empty to keep the current secret."),
    )
    without_secret = forms.BooleanField(label=_("Remove the secret"), required=False)
    muted_until = forms.DateTimeField(
        label=_("Muted until (UTC)"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
    )

    def __init__(self, row: NotificationSubscription, data: Any = None) -> None:
        initial = {"kinds": row.kinds, "digest": row.digest, "muted_until": row.muted_until}
        super().__init__(data, initial=initial)
        shown = shown_address(row)
        self.fields["address"].help_text = _("Current address: %(address)s (leave empty to keep it)") % {
            "address": shown
        }
        is_optional = row.channel in (DeliveryChannel.FEISHU, DeliveryChannel.DINGTALK)
        unused = {
            "digest": row.channel == DeliveryChannel.INBOX,
            "address": not has_address(row),
            "secret": row.channel not in WITH_SECRET,
            "without_secret": not (is_optional and row.secret),
        }
        for name in (name for name, is_unused in unused.items() if is_unused):
            del self.fields[name]

    def options(self, row: NotificationSubscription) -> SubscriptionOptions:
        """The options for ``subscriptions.change``, of a valid form."""
        values = self.cleaned_data
        return SubscriptionOptions(
            row.channel,
            values["kinds"],
            address=values.get("address") or None,
            secret="" if values.get("without_secret") else values.get("secret") or None,
            digest=values.get("digest", Digest.NONE),
            muted_until=values["muted_until"],
        )


class DeliveryFilterForm(forms.Form):
    state = forms.ChoiceField(
        label=_("Status"), choices=[("", _("Any")), *DeliveryState.choices], required=False
    )
    channel = forms.ChoiceField(
        label=pgettext_lazy("notification", "Channel"),
        choices=[("", _("Any")), *DeliveryChannel.choices],
        required=False,
    )

    @property
    def lookups(self) -> dict[str, Any]:
        """The chosen filters of the delivery log; none if the query is invalid."""
        values = self.cleaned_data if self.is_valid() else {}
        names = {"state": "state", "channel": "subscription__channel"}
        return {lookup: values[name] for name, lookup in names.items() if values.get(name)}
