"""The refusals that only a browser's form can meet."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "UPLOAD_GONE",
        gettext_noop("What was checked is no longer kept."),
        gettext_noop("Choose the package again."),
        http=410,
    ),
    Code(
        "UPLOAD_TOO_LARGE",
        gettext_noop("The upload is larger than %(megabytes)s MB or has more than %(files)s files."),
        gettext_noop("Leave out what the skill does not need, such as node_modules, and try again."),
        http=413,
    ),
)
