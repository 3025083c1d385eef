"""Error codes that all packages share."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

NOT_FOUND = declare("NOT_FOUND", lambda *, what, name: ..., http=404)(
    _("The %(what)s %(name)s was not found, or you don't have access to it."),
    _("Check the spelling, and sign in with an account that has access."),
)
SLUG_INVALID = declare("SLUG_INVALID", lambda *, slug: ...)(
    _("“%(slug)s” is not a valid short name."),
    _(
        "Use up to 64 lowercase letters, digits and single hyphens, with no "
        "hyphen at the start or end; words such as new and settings are reserved."
    ),
)
TEXT_INVALID = declare("TEXT_INVALID", lambda *, field, most: ...)(
    _("`%(field)s` is empty, too long or contains invalid characters."),
    _("Enter plain text of at most %(most)s characters."),
)
UNAVAILABLE = declare("UNAVAILABLE", http=503, retryable=True)(
    _("The database or storage is temporarily unavailable, so nothing was changed."),
    _("Try again in a few seconds."),
)
LANGUAGE_UNKNOWN = declare("LANGUAGE_UNKNOWN", lambda *, language, known: ...)(
    _("%(language)s is not supported; supported languages: %(known)s."),
    _("Choose one or more of the supported languages."),
)
PHRASE_LANGUAGE_MISSING = declare("PHRASE_LANGUAGE_MISSING", lambda *, language: ..., severity="notice")(
    _("The skill has no trigger phrase in %(language)s, which is one of the team's languages."),
    _("Add a phrase to `triggers.phrases`, or let the model propose phrases in the skill's settings."),
)
FIELD_REQUIRED = declare("FIELD_REQUIRED", lambda *, field: ...)(
    _("`%(field)s` is required."),
    _("Add the field to the request; /api/docs/ describes what each field accepts."),
)
UPLOAD_EMPTY = declare("UPLOAD_EMPTY", http=400)(
    _("The request has no body, or its form contains no file."),
    _(
        "Send the content as the request body or in a form field; /api/docs/ describes what each "
        "endpoint accepts."
    ),
)
SECRET_UNREADABLE = declare("SECRET_UNREADABLE", http=503)(
    _("Can't decrypt a stored secret: SKILLQUAY_SECRET_KEY has changed."),
    _(
        "Ask an administrator to restore the previous SKILLQUAY_SECRET_KEY; for "
        "a webhook, you can rotate its secret instead."
    ),
)
