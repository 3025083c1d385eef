from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

PACKAGE_MISSING = declare("PACKAGE_MISSING")(
    _("The package of this version is no longer stored."), _("Run another version.")
)
