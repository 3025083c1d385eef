"""Error codes for calls that can't start and for runs that failed."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

INVALID_JSON = declare("INVALID_JSON")(
    _("Invalid JSON in the skill's input or output."),
    _(
        "Ask the skill's maintainers to print one JSON object as the script's last output on "
        "stdout, with logs on stderr, or to return JSON from the endpoint."
    ),
)
UNKNOWN_ACTION = declare("UNKNOWN_ACTION")(
    _("The skill does not have this action."), _("Choose one of the actions that the skill lists.")
)
MISSING_PARAM = declare("MISSING_PARAM")(
    _("A required parameter is missing."),
    _("Compare the inputs with the skill's parameters, and add the missing parameter."),
)
INVALID_PARAM = declare("INVALID_PARAM")(
    _("A parameter has an invalid value."),
    _("Compare the inputs with the skill's parameters, and correct the value."),
)
TIMEOUT = declare("TIMEOUT")(
    _("The run exceeded its time limit."),
    _("Run the skill again with a smaller task, or ask its maintainers to raise the time limit."),
)
PERMISSION_DENIED = declare("PERMISSION_DENIED")(
    _("The skill lacks a permission that it needs."),
    _(
        "Find out from the script's error message what the skill can't access, then ask the owner "
        "of that resource to give the skill access."
    ),
)
DATA_NOT_FOUND = declare("DATA_NOT_FOUND")(
    _("The requested data was not found."), _("Change the inputs so that they refer to existing data.")
)
EXTERNAL_SERVICE_ERROR = declare("EXTERNAL_SERVICE_ERROR", retryable=True)(
    _("An external service that the skill uses failed."), _("Try again later.")
)
INTERNAL_ERROR = declare("INTERNAL_ERROR")(
    _("The skill failed because of an unexpected error."),
    _("Read the log, then report the error to the skill's maintainers."),
)
SCRIPT_FAILED = declare("SCRIPT_FAILED")(
    _("The script ended with an error."), _("Read the script's error message in the log.")
)
PACKAGE_READ_ONLY = declare("PACKAGE_READ_ONLY")(
    _("The script tried to write into its package, which is read-only."),
    _("Write to the working folder, to `output_dir` or to /tmp instead."),
)
MODULE_MISSING = declare("MODULE_MISSING", lambda *, module: ...)(
    _("The script needs the module %(module)s, which is not installed."),
    _(
        "Ask a maintainer to add the library on the version's page, or declare it in "
        "`requirements.txt` or `package.json` and publish a new version."
    ),
)
PROGRAM_MISSING = declare("PROGRAM_MISSING", lambda *, program: ...)(
    _("The script needs the program %(program)s, which is not installed on the worker."),
    _(
        "Ask the skill's maintainers to choose a `runtime` that includes this program, or ask "
        "an administrator to install the program on the workers' hosts."
    ),
)
HOST_REFUSED = declare("HOST_REFUSED", lambda *, host: ...)(
    _("The script needs the host %(host)s, which the skill's `security` settings do not allow."),
    _(
        "Ask a maintainer to add the host on the version's page, or to publish a new version "
        "that lists the host in `security.network_allowlist` and sets `security.network: "
        "allowlist`."
    ),
)
USAGE = declare("USAGE")(
    _("The script does not accept these arguments."),
    _("Compare the arguments with the script's usage, then change them and run the script again."),
)
OUTPUT_INVALID = declare("OUTPUT_INVALID")(
    _("The script's output does not match `output_schema`."),
    _("Ask the skill's maintainers to fix the script or its `output_schema`."),
)
OUTPUT_LIMIT = declare("OUTPUT_LIMIT")(
    _("The skill exceeded its output limit and was stopped."),
    _(
        "Ask the skill's maintainers to write large results to a file in "
        "output_dir instead of stdout or, for a skill with an HTTP endpoint, to "
        "return less data."
    ),
)
MEMORY_LIMIT = declare("MEMORY_LIMIT")(
    _("The script exceeded its memory limit and was stopped."),
    _("Run the skill again with a smaller task, or ask its maintainers to raise `security.memory_mb`."),
)
DISK_LIMIT = declare("DISK_LIMIT")(
    _("The script exceeded its disk limit and was stopped."),
    _(
        "Ask the skill's maintainers to make the script delete intermediate files, or ask an "
        "administrator to raise the site's limit."
    ),
)
START_FAILED = declare("START_FAILED", retryable=True)(
    _("The script could not be started."),
    _("Ask an administrator to find the cause with manage.py sandbox_doctor."),
)
EXECUTE_MISSING = declare("EXECUTE_MISSING")(
    _("The entry point does not export a function named `execute`."),
    _("Export execute(parameters, context, config) from the entry point."),
)
TOOL_MISSING = declare("TOOL_MISSING")(
    _("The entry point exports neither a function with the tool's name nor `execute`."),
    _(
        "Export a function with the tool's name from the entry point, or `execute`, which receives "
        "the tool's name in `context.tool`."
    ),
)
SCRIPT_NOT_FOUND = declare("SCRIPT_NOT_FOUND", lambda *, script, ids: ..., http=404)(
    _("Script %(script)s was not found; available scripts: %(ids)s."),
    _("Choose one of the available scripts."),
)
ENTRY_REQUIRED = declare("ENTRY_REQUIRED", lambda *, ids: ...)(
    _("Can't run the skill: it has several scripts, but none was chosen (available: %(ids)s)."),
    _("Choose the script to run, or set `resources.entry` in the skill."),
)
ENTRY_NOT_FOUND = declare("ENTRY_NOT_FOUND", lambda *, entry, ids: ...)(
    _("Can't run the skill: its entry point %(entry)s is not one of its scripts (available: %(ids)s)."),
    _(
        "Choose one of the scripts, or ask the skill's maintainers to set `resources.entry` to a "
        "file in scripts/."
    ),
)
ACTION_REQUIRED = declare("ACTION_REQUIRED", lambda *, actions: ...)(
    _("Can't run the skill: it needs an action, but none was chosen (available: %(actions)s)."),
    _("Choose one of the available actions."),
)
CHOICE_AMBIGUOUS = declare("CHOICE_AMBIGUOUS", lambda *, first, second: ...)(
    _("`%(first)s` and `%(second)s` can't be used together."),
    _("Choose only one: a script, an action or a tool."),
)
TOOL_REQUIRED = declare("TOOL_REQUIRED", lambda *, names: ...)(
    _("Can't run the skill: it needs a tool, but none was chosen (available: %(names)s)."),
    _("Choose one of the available tools."),
)
TOOL_UNKNOWN = declare("TOOL_UNKNOWN", lambda *, tool, names: ..., http=404)(
    _("Tool %(tool)s was not found; available tools: %(names)s."), _("Choose one of the available tools.")
)
TOOLS_UNDECLARED = declare("TOOLS_UNDECLARED")(
    _("The skill uses the abp protocol but declares no callable tools."),
    _("Ask the skill's maintainers to declare each tool in `abp.tools`."),
)
STATIC_SKILL = declare("STATIC_SKILL")(
    _("Can't run the skill: its type is `static`, so it has no script to run."),
    _("Read the skill on its page or with `skills_load`, or install it."),
)
PROMPT_ONLY = declare("PROMPT_ONLY")(
    _("The skill is a prompt without scripts, so it has no script, action or tool to choose."),
    _("Run the skill with arguments only, without a script, action or tool."),
)
ARGUMENT_NAME_INVALID = declare("ARGUMENT_NAME_INVALID", lambda *, name: ...)(
    _("%(name)s is not a valid argument name."), _("Use letters, digits and _, starting with a letter.")
)
ARGUMENT_NOT_STORABLE = declare("ARGUMENT_NOT_STORABLE", lambda *, name, what: ...)(
    _("The value of %(name)s can't be passed as an argument: it contains %(what)s."),
    _("Send the value as a file."),
)
ARGUMENTS_TOO_LARGE = declare("ARGUMENTS_TOO_LARGE", lambda *, size, limit: ..., http=413)(
    _("The arguments are %(size)s bytes; the limit is %(limit)s bytes."), _("Send large values as files.")
)
ARGUMENTS_UNUSED = declare("ARGUMENTS_UNUSED")(
    _("Can't send `arguments`: only scripts that take command-line arguments accept them."),
    _("Send the values as inputs instead."),
)
STDIN_UNUSED = declare("STDIN_UNUSED")(
    _("Can't send `stdin`: only scripts that take command-line arguments accept it."),
    _("Send the values as inputs instead."),
)
ENDPOINT_NOT_ALLOWED = declare("ENDPOINT_NOT_ALLOWED", lambda *, address: ...)(
    _("The skill's `security` settings do not allow access to its endpoint %(address)s."),
    _(
        "Ask the skill's maintainers to set `security.network` to `allowlist` "
        "and add the host to `security.network_allowlist`."
    ),
)
ARGUMENT_UNKNOWN = declare("ARGUMENT_UNKNOWN", lambda *, name, names: ...)(
    _("The prompt has no argument %(name)s; available arguments: %(names)s."),
    _("Send arguments as one line, as a list, or by their declared names."),
)
SHELL_UNAVAILABLE = declare("SHELL_UNAVAILABLE", lambda *, shell: ...)(
    _("Can't run the prompt: the skill requires the shell %(shell)s, which the sandbox does not have."),
    _("Set `shell: bash` or `shell: sh` in the skill."),
)

# The nine codes of the JSON stdin protocol, for scripts and for the worker.
STANDARD = (
    INVALID_JSON,
    UNKNOWN_ACTION,
    MISSING_PARAM,
    INVALID_PARAM,
    TIMEOUT,
    PERMISSION_DENIED,
    DATA_NOT_FOUND,
    EXTERNAL_SERVICE_ERROR,
    INTERNAL_ERROR,
)
ENDINGS = (
    SCRIPT_FAILED,
    OUTPUT_INVALID,
    OUTPUT_LIMIT,
    MEMORY_LIMIT,
    DISK_LIMIT,
    START_FAILED,
    EXECUTE_MISSING,
    TOOL_MISSING,
)
