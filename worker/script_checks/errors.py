"""Error codes of scripts that can't start and of values above a site limit."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SCRIPT_SYNTAX = declare("SCRIPT_SYNTAX", lambda *, interpreter, reason: ..., severity="warning")(
    _("%(interpreter)s can't read this script: %(reason)s."),
    _("Correct the line. If the script needs a newer interpreter, rewrite the line for this one."),
)
SCRIPT_LINE_ENDS = declare("SCRIPT_LINE_ENDS", severity="warning")(
    _("The script has CRLF line ends, which a shell reads as part of the commands."),
    _("Save the file with LF line ends."),
)
LIMIT_EXCEEDED = declare("LIMIT_EXCEEDED", lambda *, field, value, limit: ..., severity="notice")(
    _("`%(field)s` is %(value)s, but this site allows at most %(limit)s. Runs use %(limit)s."),
    _("Use a smaller value, or ask an administrator to raise the limit."),
)
