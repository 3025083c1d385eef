"""Error codes of sign-in, permissions, access tokens, teams and members."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

FORBIDDEN = declare("FORBIDDEN", lambda *, action: ..., http=403)(
    _("You don't have permission for this action: %(action)s."),
    _(
        "Ask a team owner or an administrator for this permission (see "
        "docs/reference/permissions.md), or sign in if you used an access token."
    ),
)
SIGN_IN_REQUIRED = declare("SIGN_IN_REQUIRED", http=401)(
    _("Can't do this: you are not signed in."), _("Sign in or send an access token.")
)
TOKEN_INVALID = declare("TOKEN_INVALID", http=401)(
    _("The access token is unknown, expired or revoked, or its owner's account is inactive."),
    _("Use a valid token of an active account; you can create tokens on your account page."),
)
TOKEN_SCOPE_MISSING = declare("TOKEN_SCOPE_MISSING", lambda *, scopes, needed: ..., http=403)(
    _("The access token has none of the required scopes; its scopes: %(scopes)s."),
    _("Use a token with one of these scopes: %(needed)s."),
)
TOKEN_SCOPE_UNKNOWN = declare("TOKEN_SCOPE_UNKNOWN", lambda *, scopes: ...)(
    _("Invalid token scopes; valid scopes: %(scopes)s."),
    _("Send at least one valid scope, and no other values."),
)
TOKEN_EXPIRY_INVALID = declare("TOKEN_EXPIRY_INVALID")(
    _("The expiry date must be in the future and within a year."), _("Choose a date within the next year.")
)
TOKEN_LIMIT_EXCEEDED = declare("TOKEN_LIMIT_EXCEEDED", lambda *, field: ..., http=403)(
    _("An access token can't create or rotate a token that has more access than itself (field: %(field)s)."),
    _(
        "Stay within the scopes, the expiry date and the team of the token that "
        "you are using. If the field is `rules`, or you need more access, sign "
        "in to manage tokens."
    ),
)
SERVICE_ACCOUNT_IN_SHELL = declare("SERVICE_ACCOUNT_IN_SHELL", lambda *, user: ..., http=403)(
    _("%(user)s is a service account, which acts only with access tokens."),
    _(
        "Use `--as` with the account of a person, or call the API with an access token of the "
        "service account."
    ),
)
TOKEN_ENDED = declare("TOKEN_ENDED", http=409)(
    _("The access token has expired or was revoked."), _("Create a new token.")
)
OVERLAP_INVALID = declare("OVERLAP_INVALID", lambda *, most: ...)(
    _("After a token is rotated, its old secret can keep working for 0 to %(most)s hours."),
    _("Choose a number of hours in this range."),
)
UNDO_EXPIRED = declare("UNDO_EXPIRED", http=409)(
    _("This change can no longer be undone."),
    _(
        "If you revoked a token, create a new one. If you left a team, ask an owner of the team to "
        "add you again."
    ),
)
TEAM_EXISTS = declare("TEAM_EXISTS", lambda *, slug: ..., http=409)(
    _("The team %(slug)s already exists."), _("Choose another name.")
)
ROLE_UNKNOWN = declare("ROLE_UNKNOWN", lambda *, role: ...)(
    _("%(role)s is not a valid role."), _("Choose viewer, member, maintainer or owner.")
)
MEMBER_EXISTS = declare("MEMBER_EXISTS", lambda *, user: ..., http=409)(
    _("%(user)s is already a member of the team."), _("Change the role instead.")
)
LAST_OWNER = declare("LAST_OWNER", lambda *, user, team: ..., http=409)(
    _("%(user)s is the only owner of %(team)s."), _("Make another user an owner of the team first.")
)
TEAM_ARCHIVED = declare("TEAM_ARCHIVED", lambda *, team: ..., http=409)(
    _("Can't do this in the team %(team)s: the team is archived and read-only."),
    _("Ask an owner of the team or an administrator to unarchive it."),
)
RUN_TEAM_INVALID = declare("RUN_TEAM_INVALID", lambda *, team: ..., http=403)(
    _("You can't run skills as this team: %(team)s."), _("Choose a team that you are a member of.")
)
