"""The refusals of the one door out."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "OUTBOUND_ADDRESS",
        gettext_noop("This is not an address that can be read: %(reason)s."),
        gettext_noop(
            "Give an https:// address without a user name and a password;"
            " http:// is for what SKILLQUAY_OUTBOUND_ALLOW lists."
        ),
    ),
    Code(
        "OUTBOUND_REFUSED",
        gettext_noop("%(host)s is not an address of the public internet, so nothing was asked of it."),
        gettext_noop("An administrator lists what else may be reached in SKILLQUAY_OUTBOUND_ALLOW."),
    ),
    Code(
        "OUTBOUND_FAILED",
        gettext_noop("%(host)s could not be asked: %(reason)s."),
        gettext_noop("Check the address, and try again later."),
        http=502,
        retryable=True,
    ),
    Code(
        "OUTBOUND_TIMEOUT",
        gettext_noop("%(host)s did not answer in full within %(seconds)s seconds."),
        gettext_noop("Try again later."),
        http=504,
        retryable=True,
    ),
    Code(
        "OUTBOUND_TOO_LARGE",
        gettext_noop("%(host)s answered with more than %(limit)s bytes."),
        gettext_noop("Make what lies there smaller, or ask the administrator for a higher limit."),
    ),
    Code(
        "OUTBOUND_REDIRECTS",
        gettext_noop("The address leads on to others more than %(most)s times."),
        gettext_noop("Give the address at which the content really lies."),
        http=502,
    ),
    Code(
        "OUTBOUND_STATUS",
        gettext_noop("%(host)s answered with status %(status)s."),
        gettext_noop("Check the address, and whether it wants credentials."),
        http=502,
    ),
)
