from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

USERNAME_INVALID = declare("USERNAME_INVALID", lambda *, name: ...)(
    _("“%(name)s” is not a valid user name."),
    _("Use at most 150 characters: letters, digits and @ . + - _. The name can't start with “erased-”."),
)
USERNAME_TAKEN = declare("USERNAME_TAKEN", lambda *, name: ..., http=409)(
    _("The user name %(name)s is taken."), _("Choose another user name.")
)
EMAIL_INVALID = declare("EMAIL_INVALID", lambda *, email: ...)(
    _("“%(email)s” is not a valid e-mail address."), _("Use an address such as name@example.com.")
)
PASSWORD_WEAK = declare("PASSWORD_WEAK", lambda *, reason: ...)(
    _("Can't use this password: %(reason)s"), _("Choose a longer password that is hard to guess.")
)
PASSWORD_CHANGE_REQUIRED = declare("PASSWORD_CHANGE_REQUIRED", http=403)(
    _("Can't use the API in this session: you have not yet changed your one-time password."),
    _("Sign in on the site and change the one-time password, then send the request again."),
)
SECOND_FACTOR_REQUIRED = declare("SECOND_FACTOR_REQUIRED", http=403)(
    _("Can't use the API in this session: your account needs a second factor and has none."),
    _("Sign in on the site and add a second factor, then send the request again."),
)
LAST_ADMINISTRATOR = declare("LAST_ADMINISTRATOR", lambda *, user: ..., http=409)(
    _("%(user)s is the only administrator of this site."), _("Make another user an administrator first.")
)
USER_INACTIVE = declare("USER_INACTIVE", lambda *, user: ..., http=409)(
    _("The account %(user)s is inactive."), _("Reactivate the account first.")
)
USER_ERASED = declare("USER_ERASED", lambda *, user: ..., http=409)(
    _("The account %(user)s was deleted."), _("Create a new account.")
)
SERVICE_ACCOUNT = declare("SERVICE_ACCOUNT", lambda *, user: ..., http=409)(
    _("Can't change %(user)s here: service accounts have no password and no administrator rights."),
    _("Change the service account on the page “Service accounts” of its team."),
)
SERVICE_ROLE_INVALID = declare("SERVICE_ROLE_INVALID", lambda *, role: ...)(
    _("A service account can't have the role %(role)s."), _("Choose viewer, member or maintainer.")
)
SIGN_UP_CLOSED = declare("SIGN_UP_CLOSED", http=403)(
    _("Can't create an account: this invitation is only for people with an account on this site."),
    _("Sign in and open the link again, or ask an administrator for an account."),
)
INVITATION_INVALID = declare("INVITATION_INVALID", http=404)(
    _("This invitation doesn't exist, has expired, or was already used."),
    _("Ask the person who invited you for a new invitation."),
)
LOCKED_OUT = declare("LOCKED_OUT", lambda *, retry_after_s: ..., http=429, retryable=True)(
    _("Too many failed sign-ins: you can't sign in for now."),
    _("Try again in %(retry_after_s)s seconds, or ask an administrator to end the lock-out."),
)
EXPIRY_INVALID = declare("EXPIRY_INVALID", lambda *, most: ...)(
    _("An invitation must be valid for between 1 and %(most)s days."),
    _("Choose a number of days in this range."),
)
