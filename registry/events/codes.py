"""The refusals of events, of the webhooks that bring them, and of feedback."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "EVENT_TEAM_REQUIRED",
        gettext_noop("An event is told to one team, and you are on several or on none: %(teams)s."),
        gettext_noop("Name the team."),
    ),
    Code(
        "EVENT_ID_INVALID",
        gettext_noop("An event's id is 1 to 128 printable ASCII characters without blanks and full stops."),
        gettext_noop("Send an id that names this one event, such as evt_01KAJQ3S5D, or none."),
    ),
    Code(
        "EVENT_ID_REUSED",
        gettext_noop("The id %(id)s was sent before, with another event."),
        gettext_noop("Give each event an id of its own."),
        http=409,
    ),
    Code(
        "EVENT_PAYLOAD_INVALID",
        gettext_noop("The payload cannot be kept: %(reason)s."),
        gettext_noop("Send a JSON object."),
    ),
    Code(
        "EVENT_TOO_LARGE",
        gettext_noop("The event is larger than %(limit)s bytes."),
        gettext_noop("Send less, or an address where the rest is; the limit is SKILLQUAY_EVENT_BYTES."),
        http=413,
    ),
    Code(
        "EVENTS_TOO_MANY",
        gettext_noop("More than %(limit)s events came from here within a minute."),
        gettext_noop("Send it again a minute later; the limit is SKILLQUAY_EVENTS_A_MINUTE."),
        http=429,
        retryable=True,
    ),
    Code(
        "EVENT_NOT_PROPOSED",
        gettext_noop("%(skill)s is not proposed for this event, or was started already."),
        gettext_noop("Read the event again to see what became of it."),
        http=409,
    ),
    Code(
        "EVENT_UNDECLARED",
        gettext_noop("%(skill)s declares no event of the type %(type)s."),
        gettext_noop("Choose one of the types in triggers.event_types of its SKILL.md: %(known)s."),
    ),
    Code(
        "EVENTS_UNAVAILABLE",
        gettext_noop("Nothing here starts runs."),
        gettext_noop("Ask the site's administrator."),
        http=503,
    ),
    Code(
        "WEBHOOK_HEADERS_INVALID",
        gettext_noop("The header %(header)s is missing or cannot be read."),
        gettext_noop("Send webhook-id, webhook-timestamp and webhook-signature as docs/events.md shows."),
        http=400,
    ),
    Code(
        "WEBHOOK_STALE",
        gettext_noop("The delivery's time is more than %(seconds)s seconds from now."),
        gettext_noop("Sign each delivery with the time at which it is sent, and keep the clock right."),
        http=403,
    ),
    Code(
        "WEBHOOK_SIGNATURE_INVALID",
        gettext_noop("No signature of this delivery is one of the endpoint's."),
        gettext_noop("Sign timestamp.id.body, byte for byte, with the endpoint's secret: docs/events.md."),
        http=403,
    ),
    Code(
        "WEBHOOK_SEEN",
        gettext_noop("The delivery %(id)s was taken already."),
        gettext_noop("Nothing is to be done; give each new event an id of its own."),
        http=409,
    ),
    Code(
        "WEBHOOK_GONE",
        gettext_noop("The webhook endpoint whose delivery asked for it was deleted."),
        gettext_noop("Nothing runs for it any more; start the skill by hand, or make another endpoint."),
        http=403,
    ),
    Code(
        "WEBHOOK_NOBODY",
        gettext_noop("Whoever made this endpoint may not run skills for its team."),
        gettext_noop("A maintainer who is on the team deletes it and makes another."),
        http=403,
    ),
    Code(
        "WEBHOOK_OVERLAP_INVALID",
        gettext_noop("The old secret stays valid for 0 to %(most)s hours."),
        gettext_noop("Choose how long the sender needs; 0 where the secret is known to others."),
    ),
    Code(
        "SECRET_UNREADABLE",
        gettext_noop("What is kept encrypted was written under another SKILLQUAY_SECRET_KEY."),
        gettext_noop("Give the site its former key, or make the secret anew: rotate it."),
        http=503,
    ),
    Code(
        "FEEDBACK_UTTERANCE_MISSING",
        gettext_noop("To say that a skill is the wrong one takes what was said."),
        gettext_noop("Send the utterance that the skill should not have matched."),
    ),
    Code(
        "FEEDBACK_FULL",
        gettext_noop(
            "%(skill)s has many proposed trigger tests, of yours or of all, that nobody has looked at."
        ),
        gettext_noop("Tell its team; its maintainers accept or decline them on its feedback page."),
        http=429,
    ),
    Code(
        "FEEDBACK_DECIDED",
        gettext_noop("This proposal was %(state)s already."),
        gettext_noop("Nothing is to be done; an accepted test can be removed."),
        http=409,
    ),
)
