"""The codes of calling scripts: what keeps a call from starting, and why a script's run failed."""

from __future__ import annotations

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

STANDARD = (  # document B's nine, which skills answer with and the portal too where it is the one that fails
    Code(
        "INVALID_JSON",
        _("What was to be JSON is not: the request that the skill read, or the answer that it wrote."),
        _("Print one JSON object on stdout as the last thing, and log to stderr."),
    ),
    Code(
        "UNKNOWN_ACTION",
        _("The skill does not know the action."),
        _("Choose one of the actions that the skill lists."),
    ),
    Code("MISSING_PARAM", _("A required parameter is missing."), _("Add it to the inputs.")),
    Code("INVALID_PARAM", _("The value of a parameter is not valid."), _("Change it to a value that is.")),
    Code(
        "TIMEOUT",
        _("The run took longer than it may."),
        _("Ask for less at once, or have the skill's time limit raised."),
    ),
    Code(
        "PERMISSION_DENIED",
        _("The skill may not use what it needs."),
        _("Ask for access to what the message names."),
    ),
    Code("DATA_NOT_FOUND", _("There are no such data."), _("Check what was asked for.")),
    Code(
        "EXTERNAL_SERVICE_ERROR",
        _("A service that the skill calls has failed."),
        _("Try again later."),
        retryable=True,
    ),
    Code(
        "INTERNAL_ERROR",
        _("The skill failed in a way that it did not foresee."),
        _("The log holds what it said; tell the skill's authors."),
    ),
)

ENDINGS = (
    Code(
        "SCRIPT_FAILED",
        _("The script ended with a failure."),
        _("The log holds what the script said about it."),
    ),
    Code(
        "OUTPUT_INVALID",
        _("The script's output does not fit the skill's output_schema."),
        _("Tell the skill's authors: either the script or its output_schema is wrong."),
    ),
    Code(
        "OUTPUT_LIMIT",
        _("The script wrote more output than it may, and was stopped."),
        _("Write large results to a file in output_dir instead of stdout."),
    ),
    Code(
        "MEMORY_LIMIT",
        _("The script needed more memory than it may have, and was stopped."),
        _("Ask for less at once, or have security.memory_mb raised."),
    ),
    Code(
        "DISK_LIMIT",
        _("The script wrote more files than it may, and was stopped."),
        _("Remove intermediate files, or have the site's limit raised."),
    ),
    Code(
        "START_FAILED",
        _("The script could not be started."),
        _("An administrator finds the cause with manage.py sandbox_doctor."),
        retryable=True,
    ),
    Code(
        "EXECUTE_MISSING",
        _("The entry exports no function execute."),
        _("Export execute(parameters, context, config) from the entry."),
    ),
    Code(
        "TOOL_MISSING",
        _("The entry exports neither a function of the tool's name nor execute."),
        _("Export a function of the tool's name from the entry, or execute, which finds it in context.tool."),
    ),
)

REFUSALS = (
    Code(
        "SCRIPT_NOT_FOUND",
        _("There is no script %(script)s; there are: %(ids)s."),
        _("Name one of the scripts that there are."),
        http=404,
    ),
    Code(
        "ENTRY_REQUIRED",
        _("The skill has several scripts: %(ids)s."),
        _("Name the script to run, or have resources.entry name it."),
    ),
    Code(
        "ENTRY_NOT_FOUND",
        _("The skill's entry %(entry)s cannot be run; its scripts are: %(ids)s."),
        _("Name one of its scripts, or have resources.entry name a file below scripts/."),
    ),
    Code(
        "ACTION_REQUIRED",
        _("The skill is called with an action, and none was named; known actions: %(actions)s."),
        _("Name the action to run."),
    ),
    Code(
        "CHOICE_AMBIGUOUS",
        _("Both %(first)s and %(second)s are named."),
        _("Name one script, or one action, or one tool."),
    ),
    Code(
        "TOOL_REQUIRED",
        _("The skill is called by tool, and none was named; there are: %(names)s."),
        _("Name the tool to call."),
    ),
    Code(
        "TOOL_UNKNOWN",
        _("There is no tool %(tool)s; there are: %(names)s."),
        _("Name one of the tools that there are."),
        http=404,
    ),
    Code(
        "TOOLS_UNDECLARED",
        _("The skill speaks the protocol abp and declares no tool that could be called."),
        _("Its authors name each tool below abp.tools."),
    ),
    Code(
        "STATIC_SKILL",
        _("The skill is static: there is nothing to run."),
        _("Read it on its page, by skills_load or GET /api/v1/skills/{team}/{slug}; or install it."),
    ),
    Code(
        "PROMPT_ONLY",
        _("The skill is a prompt without scripts: it has no script, action or tool to name."),
        _("Run it with arguments alone: the answer is its prompt."),
    ),
    Code(
        "ARGUMENT_NAME_INVALID",
        _("%(name)s cannot be the name of an argument."),
        _("Use letters, digits and _, beginning with a letter."),
    ),
    Code(
        "ARGUMENT_NOT_STORABLE",
        _("The value of %(name)s holds %(what)s, which no argument can carry."),
        _("Send it as a file."),
    ),
    Code(
        "ARGUMENTS_TOO_LARGE",
        _("The arguments are %(size)s bytes; the system passes at most %(limit)s."),
        _("Send large values as files."),
        http=413,
    ),
    Code(
        "STDIN_UNUSED",
        _("This script reads its request on stdin, so no stdin of yours can be given."),
        _("Put the values into the inputs."),
    ),
)

declare(*STANDARD, *ENDINGS, *REFUSALS)
