"""Why dependencies are not there."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "DEPENDENCIES_OFF",
        gettext_noop("This site has no index of %(kind)s packages, so nothing is installed."),
        gettext_noop("An administrator names one in %(setting)s; then press Retry."),
        http=503,
    ),
    Code(
        "DEPENDENCIES_FAILED",
        gettext_noop("The dependencies could not be installed: %(reason)s"),
        gettext_noop("Mend what the package names, by the log of its preparation, and publish it anew."),
    ),
    Code(
        "DEPENDENCIES_OFFLINE",
        gettext_noop("The index of %(kind)s packages does not answer: %(reason)s"),
        gettext_noop("Press Retry when it does; an administrator checks %(setting)s and the network."),
        http=503,
        retryable=True,
    ),
    Code(
        "DEPENDENCIES_HOST",
        gettext_noop("The scripts import modules of %(host)s, of which this site takes none."),
        gettext_noop(
            "Put the module into scripts/ or name it as npm: or jsr:; an administrator lists hosts in "
            "SKILLQUAY_DENO_HOSTS."
        ),
    ),
    Code(
        "DEPENDENCIES_CHANGED",
        gettext_noop("The index now gives other bytes for a package than its lock says: %(reason)s"),
        gettext_noop("Find out what changed in the index before you trust it; name another version."),
    ),
    Code(
        "DEPENDENCIES_TOO_LARGE",
        gettext_noop("The dependencies are larger than %(limit)s MB, or more files than may be."),
        gettext_noop("Name fewer or smaller ones; the limit is SKILLQUAY_DEPENDENCIES_MB."),
        http=413,
    ),
    Code(
        "DEPENDENCIES_DISK",
        gettext_noop("The worker's disk is full, so the dependencies could not be made."),
        gettext_noop("An administrator frees space where SKILLQUAY_VAR lies; then press Retry."),
        http=507,
        retryable=True,
    ),
    Code(
        "DEPENDENCIES_SLOW",
        gettext_noop("Installing the dependencies took longer than %(limit)s seconds."),
        gettext_noop("Press Retry; the limit is SKILLQUAY_DEPENDENCIES_SECONDS."),
        retryable=True,
    ),
    Code(
        "DEPENDENCIES_PYTHON",
        gettext_noop("The script asks for Python %(wanted)s, and the worker has %(have)s."),
        gettext_noop("Widen requires-python of the script, or run it where such a Python is."),
    ),
    Code(
        "INSTALLER_MISSING",
        gettext_noop("%(name)s, which installs dependencies, is not on the worker."),
        gettext_noop("Install it where the worker's own interpreter finds it."),
        http=503,
    ),
    Code(
        "PREPARING",
        gettext_noop("The dependencies of this version are being prepared."),
        gettext_noop("Wait: the run starts when they are ready."),
        http=409,
        retryable=True,
    ),
    Code(
        "PREPARATION_NONE",
        gettext_noop("%(version)s names no dependencies that could be prepared."),
        gettext_noop("Nothing to do."),
        http=409,
    ),
    Code(
        "RUNTIME_UNKNOWN",
        gettext_noop("The skill asks for the runtime %(runtime)s, which this site does not have."),
        gettext_noop("An administrator names its folder in SKILLQUAY_RUNTIMES; this site has %(names)s."),
        http=503,
    ),
)
