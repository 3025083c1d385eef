from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SHOWN_CALL_REFUSED = declare("SHOWN_CALL_REFUSED", lambda *, script, call: ..., severity="notice")(
    _("This example call does not match the arguments that %(script)s declares: %(call)s"),
    _("Correct the call or the script so that the run form can suggest this call."),
)
