from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SUBSCRIPTION_KINDS_MISSING = declare("SUBSCRIPTION_KINDS_MISSING")(
    _("A subscription needs at least one kind of notification."),
    _("Choose one or more kinds of notification."),
)
SUBSCRIPTION_KIND_UNKNOWN = declare("SUBSCRIPTION_KIND_UNKNOWN", lambda *, value, known: ...)(
    _("%(value)s is not a valid value."), _("Use one of: %(known)s.")
)
SUBSCRIPTION_ADDRESS_INVALID = declare("SUBSCRIPTION_ADDRESS_INVALID", lambda *, channel: ...)(
    _("The channel %(channel)s needs a valid address."),
    _("For a webhook or chat, send a URL with http or https; for e-mail to a team, send an e-mail address."),
)
SUBSCRIPTION_ADDRESS_NOT_USED = declare("SUBSCRIPTION_ADDRESS_NOT_USED", lambda *, channel: ...)(
    _("Can't set an address: this subscription (channel %(channel)s) doesn't use one."),
    _("Leave the address out: the inbox needs none, and e-mail to you goes to your account's address."),
)
SUBSCRIPTION_NOT_TESTABLE = declare("SUBSCRIPTION_NOT_TESTABLE", http=409)(
    _("Can't send a test: an inbox subscription has no address to test."),
    _("Send a test to a subscription with another channel."),
)
SUBSCRIPTION_SECRET_INVALID = declare("SUBSCRIPTION_SECRET_INVALID", lambda *, least: ...)(
    _(
        "Invalid secret: a signed webhook needs a secret of at least %(least)s "
        "characters; only signed webhooks, Feishu and DingTalk accept a secret."
    ),
    _(
        "For a webhook, send a longer random secret. For a channel that doesn't accept a secret, "
        "leave the secret out."
    ),
)
SUBSCRIPTION_EMAIL_MISSING = declare("SUBSCRIPTION_EMAIL_MISSING")(
    _("Can't subscribe by e-mail: your account has no e-mail address."),
    _("Add an e-mail address on your account page, then try again."),
)
SUBSCRIPTION_INBOX_EXISTS = declare("SUBSCRIPTION_INBOX_EXISTS", http=409)(
    _("Can't add the subscription: an inbox subscription for the same skills already exists."),
    _("Change or delete the existing subscription."),
)
SUBSCRIPTIONS_TOO_MANY = declare("SUBSCRIPTIONS_TOO_MANY", lambda *, most: ..., http=409)(
    _("Can't add a subscription: a person or team can have at most %(most)s."),
    _("Delete a subscription first."),
)
MAIL_NOT_CONFIGURED = declare("MAIL_NOT_CONFIGURED", http=503)(
    _("Can't send e-mail: no mail server is configured for this site."),
    _("Choose another channel, or ask an administrator to configure a mail server."),
)
DELIVERY_NOT_FAILED = declare("DELIVERY_NOT_FAILED", lambda *, state: ..., http=409)(
    _(
        "Can't retry this delivery: its state is %(state)s, but only queued and failed deliveries can "
        "be retried."
    ),
    _("To repeat a delivery that was sent, send it as new. To test the connection, send a test message."),
)
DELIVERY_NOT_REPLAYABLE = declare("DELIVERY_NOT_REPLAYABLE", http=409)(
    _(
        "Can't send this delivery as new: only sent or failed notifications can "
        "be sent again, not test messages or memory changes."
    ),
    _("If the delivery was not sent yet, retry it. To repeat a test, send a new test message."),
)
