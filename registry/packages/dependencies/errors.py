from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

DEPENDENCY_ELSEWHERE = declare("DEPENDENCY_ELSEWHERE", lambda *, text: ...)(
    _("%(text)s comes from a URL, repository or folder instead of a package index."),
    _(
        "Declare the dependency by its name and version; if the site's package index doesn't "
        "have it, put its code into scripts/ in the skill package."
    ),
)
DEPENDENCY_OPTION = declare("DEPENDENCY_OPTION", lambda *, text: ...)(
    _("%(text)s is an installer option, which a package can't set."),
    _("Remove the option; --hash is the only option that a package can set."),
)
DEPENDENCY_INVALID = declare("DEPENDENCY_INVALID", lambda *, text, reason: ..., severity="warning")(
    _("Can't read the dependency declaration %(text)s: %(reason)s."),
    _(
        "Correct the declaration (for Python, for example name==1.2.3), or generate the lock "
        "file again with npm or Deno."
    ),
)
DEPENDENCY_LOCK_MISSING = declare("DEPENDENCY_LOCK_MISSING", severity="warning")(
    _("The dependencies in package.json are not installed because there is no package-lock.json."),
    _("Generate package-lock.json with npm, and add it to the same folder."),
)
DEPENDENCY_FILE_LARGE = declare("DEPENDENCY_FILE_LARGE", lambda *, limit: ..., http=413)(
    _("The dependency declarations exceed the limit of %(limit)s bytes."),
    _("Remove the dependencies that the skill does not need."),
)
DEPENDENCIES_TOO_MANY = declare("DEPENDENCIES_TOO_MANY", lambda *, count, limit: ...)(
    _("The package has %(count)s dependencies; the maximum is %(limit)s."),
    _("Remove the dependencies that the skill does not need."),
)
DENO_SCRIPTS_TOO_MANY = declare("DENO_SCRIPTS_TOO_MANY", lambda *, count, limit: ...)(
    _("The package has %(count)s scripts that run with Deno; the maximum is %(limit)s."),
    _("Remove the scripts that the skill does not need."),
)
