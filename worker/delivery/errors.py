"""Error codes of subscriptions to notifications, and of deliveries."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SUBSCRIPTION_KINDS_MISSING = declare("SUBSCRIPTION_KINDS_MISSING")(
    _("A subscription needs at least one kind of notification."), _("Choose one or more kinds.")
)
SUBSCRIPTION_KIND_UNKNOWN = declare("SUBSCRIPTION_KIND_UNKNOWN", lambda *, value, known: ...)(
    _("%(value)s is unknown."), _("Use one of: %(known)s.")
)
SUBSCRIPTION_ADDRESS_INVALID = declare("SUBSCRIPTION_ADDRESS_INVALID", lambda *, channel: ...)(
    _("The address is invalid for the channel %(channel)s."),
    _("Send a URL for a webhook or chat, and an e-mail address for a team's e-mail; otherwise leave it out."),
)
SUBSCRIPTION_SECRET_INVALID = declare("SUBSCRIPTION_SECRET_INVALID", lambda *, least: ...)(
    _("A signed webhook needs a secret of at least %(least)s characters."),
    _("Send a random secret; only webhooks, Feishu and DingTalk have one."),
)
SUBSCRIPTION_EMAIL_MISSING = declare("SUBSCRIPTION_EMAIL_MISSING")(
    _("Your account has no e-mail address."), _("Add one on your account page, then try again.")
)
SUBSCRIPTION_INBOX_EXISTS = declare("SUBSCRIPTION_INBOX_EXISTS", http=409)(
    _("An inbox subscription for the same skills exists already."), _("Change or delete the existing one.")
)
SUBSCRIPTIONS_TOO_MANY = declare("SUBSCRIPTIONS_TOO_MANY", lambda *, most: ..., http=409)(
    _("A person or team can have at most %(most)s subscriptions."), _("Delete one first.")
)
MAIL_NOT_CONFIGURED = declare("MAIL_NOT_CONFIGURED", http=503)(
    _("This site can't send e-mail."), _("Choose another channel, or ask an administrator for a mail server.")
)
DELIVERY_NOT_FAILED = declare("DELIVERY_NOT_FAILED", lambda *, state: ..., http=409)(
    _("Only queued and failed deliveries can be retried; this one is %(state)s."),
    _("Replay it to send it again with a new ID."),
)
DELIVERY_NOT_REPLAYABLE = declare("DELIVERY_NOT_REPLAYABLE", http=409)(
    _("Only sent or failed notifications can be replayed."), _("Wait until the delivery ends, or retry it.")
)
