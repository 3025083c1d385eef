"""Error codes of the problems that the checks of scripts, prompts and limits find."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SCRIPT_SYNTAX = declare("SCRIPT_SYNTAX", lambda *, interpreter, reason: ..., severity="warning")(
    _("%(interpreter)s can't read this script: %(reason)s."),
    _("Correct the line, or rewrite it for this version of the interpreter."),
)
SCRIPT_LINE_ENDS = declare("SCRIPT_LINE_ENDS", severity="warning")(
    _("The script has CRLF line endings, which a shell reads as part of the commands."),
    _("Save the file with LF line endings."),
)
EXPORT_MISSING = declare("EXPORT_MISSING", severity="warning")(
    _("The module has no function `execute`, so every run of it fails."),
    _("Define and export `execute(parameters, context, config)`."),
)
IMPORTED_FILE_MISSING = declare("IMPORTED_FILE_MISSING", lambda *, name: ..., severity="warning")(
    _("The script imports %(name)s, but the package has no such file."),
    _("Add the file to the package, or correct the import in the script."),
)
PROMPT_COMMAND = declare("PROMPT_COMMAND", lambda *, command: ..., severity="notice")(
    _("Each run of this prompt executes the command: %(command)s"),
    _("No action needed if the command is intended; otherwise remove it."),
)
PROMPT_PLACEHOLDER_EMPTY = declare(
    "PROMPT_PLACEHOLDER_EMPTY", lambda *, placeholder, count: ..., severity="notice"
)(
    _(
        "%(placeholder)s is replaced by empty text: the number of arguments that the skill "
        "declares is %(count)s."
    ),
    _("Declare the argument in `arguments`, or write the text without the $ sign."),
)
LIMIT_EXCEEDED = declare("LIMIT_EXCEEDED", lambda *, field, value, limit: ..., severity="notice")(
    _("`%(field)s` is %(value)s, but this site allows at most %(limit)s. Runs use %(limit)s."),
    _("Use a smaller value, or ask an administrator to raise the limit."),
)
