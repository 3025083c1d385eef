from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SIGN_IN_EXPIRED = declare("SIGN_IN_EXPIRED", http=400)(
    _("This sign-in has expired, was already used, or was started in another browser."),
    _("Start again from the sign-in page."),
)
SIGN_IN_CANCELLED = declare("SIGN_IN_CANCELLED", lambda *, issuer: ..., http=400)(
    _("%(issuer)s did not sign you in."), _("Start again from the sign-in page, or ask your administrator.")
)
IDENTITY_INVALID = declare("IDENTITY_INVALID", lambda *, issuer, reason: ..., http=400)(
    _("Can't accept the sign-in from %(issuer)s: %(reason)s."),
    _("Start again from the sign-in page; if it fails again, ask your administrator."),
)
IDENTITY_UNKNOWN = declare("IDENTITY_UNKNOWN", lambda *, issuer: ..., http=409)(
    _("Can't sign in: your account at %(issuer)s is not linked to an account of this site."),
    _(
        "Sign in with your password and link %(issuer)s on your account page, or ask your "
        "administrator for an account."
    ),
)
IDENTITY_INACTIVE = declare("IDENTITY_INACTIVE", http=409)(
    _("Can't sign in: your account on this site is inactive."),
    _("Ask an administrator to reactivate your account."),
)
IDENTITY_TAKEN = declare("IDENTITY_TAKEN", lambda *, issuer: ..., http=409)(
    _("This account at %(issuer)s is already linked to another account of this site."),
    _(
        "To use the other account, sign in with %(issuer)s. To link your %(issuer)s account to "
        "the account that you're signed in to now, first unlink it from the other account."
    ),
)
IDENTITY_LAST = declare("IDENTITY_LAST", http=409)(
    _("Can't unlink this account: without it, you could no longer sign in."),
    _("Set a password or link another account first."),
)
