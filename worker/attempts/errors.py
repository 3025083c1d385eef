from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

PACKAGE_MISSING = declare("PACKAGE_MISSING")(
    _("Can't run this version: its package is no longer stored."), _("Run another version.")
)
