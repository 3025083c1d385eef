"""The codes of prompts: of their arguments, their shell and the commands that stand in them."""

from __future__ import annotations

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

declare(
    Code(
        "ARGUMENT_UNKNOWN",
        _("The prompt takes no argument %(name)s; it takes: %(names)s."),
        _("Send arguments as one line, as a list, or by the names that the skill declares."),
    ),
    Code(
        "SHELL_UNAVAILABLE",
        _("The shell %(shell)s, which the skill asks for, is not one that the sandbox has."),
        _("Have the skill say shell: bash or shell: sh."),
    ),
    Code(
        "COMMAND_FAILED",
        _("A command that stands in the prompt has failed, so there is no prompt."),
        _("The log holds what the command said; tell the skill's authors."),
    ),
    Code(
        "COMMANDS_TOO_MANY",
        _("%(count)s commands stand in the prompt; at most %(limit)s are run."),
        _("Have the skill's authors join them in a script."),
    ),
)
