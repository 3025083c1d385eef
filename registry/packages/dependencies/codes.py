"""The codes of what a package may name as a dependency."""

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

declare(
    Code(
        "DEPENDENCY_ELSEWHERE",
        _("%(text)s comes from an address, a repository or a folder rather than from an index."),
        _("Name the package and its version; what the site's index does not hold belongs into scripts/."),
    ),
    Code(
        "DEPENDENCY_OPTION",
        _("%(text)s is an option of an installer, which a package cannot set."),
        _("Leave the line out: which index is asked, and how, is the site's to say. --hash may stand."),
    ),
    Code(
        "DEPENDENCY_INVALID",
        _("%(text)s cannot be read as a dependency: %(reason)s."),
        _("Write it as name==1.2.3 in Python; for Node, let npm write package-lock.json anew."),
        severity="warning",
    ),
    Code(
        "DEPENDENCY_LOCK_MISSING",
        _("package.json names dependencies and there is no package-lock.json: they are not installed."),
        _("Put the package-lock.json that npm writes beside it."),
        severity="warning",
    ),
    Code(
        "DEPENDENCY_FILE_LARGE",
        _("What names dependencies here is larger than %(limit)s bytes, the most of its kind."),
        _("Name fewer dependencies."),
        http=413,
    ),
    Code(
        "DEPENDENCIES_TOO_MANY",
        _("%(count)s dependencies are named; at most %(limit)s are installed."),
        _("Name fewer dependencies."),
    ),
)
