from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

EVENT_TEAM_REQUIRED = declare("EVENT_TEAM_REQUIRED", lambda *, teams: ...)(
    _("`team` is required, because you don't belong to exactly one team. Your teams: %(teams)s."),
    _("Name the team that receives the event."),
)
EVENT_ID_INVALID = declare("EVENT_ID_INVALID")(
    _("The event ID must be 1 to 128 printable ASCII characters, without spaces or periods."),
    _("Send a unique ID for this event, such as evt_01KAJQ3S5D, or leave it out."),
)
EVENT_ID_REUSED = declare("EVENT_ID_REUSED", lambda *, id: ..., http=409)(
    _("The event ID %(id)s was already used for a different event."), _("Use a unique ID for each event.")
)
EVENT_PAYLOAD_INVALID = declare("EVENT_PAYLOAD_INVALID", lambda *, reason: ...)(
    _("The payload can't be stored: %(reason)s."), _("Send a JSON object.")
)
EVENT_TOO_LARGE = declare("EVENT_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The event is larger than %(limit)s bytes."),
    _("Send less data or a link to it, or ask an administrator to raise SKILLQUAY_MAX_EVENT_BYTES."),
)
EVENTS_TOO_MANY = declare("EVENTS_TOO_MANY", lambda *, limit: ..., http=429, retryable=True)(
    _("Too many events: this sender exceeded %(limit)s per minute."),
    _("Try again in a minute, or ask an administrator to raise SKILLQUAY_EVENTS_PER_MINUTE."),
)
EVENT_NOT_PROPOSED = declare("EVENT_NOT_PROPOSED", lambda *, skill: ..., http=409)(
    _(
        "Can't start %(skill)s from this event: the event did not match the "
        "skill, or the skill was already started."
    ),
    _("Get the event again to see its current state."),
)
EVENT_UNDECLARED = declare("EVENT_UNDECLARED", lambda *, skill, type, known: ...)(
    _("%(skill)s does not declare the event type %(type)s."),
    _("Choose one of the types in `triggers.event_types` of the skill's SKILL.md: %(known)s."),
)
EVENTS_UNAVAILABLE = declare("EVENTS_UNAVAILABLE", http=503)(
    _("This server can't start runs from events."),
    _("Ask an administrator to start this server with the apps `registry`, `worker` and `portal`."),
)
WEBHOOK_HEADERS_INVALID = declare("WEBHOOK_HEADERS_INVALID", lambda *, header: ..., http=400)(
    _("The `%(header)s` header is missing or invalid."),
    _(
        "Send the headers webhook-id, webhook-timestamp and webhook-signature as described in "
        "docs/reference/events.md."
    ),
)
WEBHOOK_STALE = declare("WEBHOOK_STALE", lambda *, seconds: ..., http=403)(
    _("The delivery's timestamp differs from the current time by more than %(seconds)s seconds."),
    _("Sign each delivery with the time it is sent, and synchronize the sender's clock."),
)
WEBHOOK_SIGNATURE_INVALID = declare("WEBHOOK_SIGNATURE_INVALID", http=403)(
    _("The delivery's signature is invalid."),
    _(
        "Sign timestamp.id.body, with the body exactly as sent, with the "
        "webhook's secret, as described in docs/reference/events.md."
    ),
)
WEBHOOK_DELIVERY_REPEATED = declare("WEBHOOK_DELIVERY_REPEATED", lambda *, id: ..., http=409)(
    _("The webhook delivery with the ID %(id)s was already received."),
    _("No action needed; use a unique ID for each new event."),
)
WEBHOOK_GONE = declare("WEBHOOK_GONE", http=403)(
    _("The webhook that started this run was deleted."),
    _("Start the skill manually, or create another webhook."),
)
WEBHOOK_OWNER_MISSING = declare("WEBHOOK_OWNER_MISSING", http=403)(
    _(
        "The user who created this webhook was deleted or deactivated, or can't run skills for the "
        "webhook's team."
    ),
    _("Ask a maintainer of the team to delete the webhook and create a new one."),
)
WEBHOOK_OVERLAP_INVALID = declare("WEBHOOK_OVERLAP_INVALID", lambda *, most: ...)(
    _("The old secret of a webhook can keep working for 0 to %(most)s hours."),
    _("Choose a number of hours in this range; use 0 if the old secret has leaked."),
)
