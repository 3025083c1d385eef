"""Error codes of declared dependencies."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

DEPENDENCY_ELSEWHERE = declare("DEPENDENCY_ELSEWHERE", lambda *, text: ...)(
    _("%(text)s comes from a URL, repository or folder instead of a package index."),
    _("Give the package name and version; put code that the site's index does not have into scripts/."),
)
DEPENDENCY_OPTION = declare("DEPENDENCY_OPTION", lambda *, text: ...)(
    _("%(text)s is an installer option, which a package can't set."),
    _("Remove the line: the site chooses the package index. You can keep --hash."),
)
DEPENDENCY_INVALID = declare("DEPENDENCY_INVALID", lambda *, text, reason: ..., severity="warning")(
    _("Can't read %(text)s as a dependency: %(reason)s."),
    _("In Python, write it as name==1.2.3; for Node, regenerate package-lock.json with npm."),
)
DEPENDENCY_LOCK_MISSING = declare("DEPENDENCY_LOCK_MISSING", severity="warning")(
    _("package.json lists dependencies but there is no package-lock.json, so they are not installed."),
    _("Add the package-lock.json that npm generates to the same folder."),
)
DEPENDENCY_FILE_LARGE = declare("DEPENDENCY_FILE_LARGE", lambda *, limit: ..., http=413)(
    _("The dependency declaration is larger than the limit of %(limit)s bytes."),
    _("List fewer dependencies."),
)
DEPENDENCIES_TOO_MANY = declare("DEPENDENCIES_TOO_MANY", lambda *, count, limit: ...)(
    _("The package lists %(count)s dependencies; at most %(limit)s can be installed."),
    _("List fewer dependencies."),
)
