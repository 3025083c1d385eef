"""Error codes of the checks that a profile applies to a package."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

FIELD_MISSING = declare("FIELD_MISSING", lambda *, field, expected: ...)(
    _("The required field `%(field)s` is missing."), _("Add `%(field)s` to the front matter: %(expected)s.")
)
DESCRIPTION_TOO_LONG = declare("DESCRIPTION_TOO_LONG", lambda *, length, limit: ..., severity="warning")(
    _("The description has %(length)s characters; the recommended maximum is %(limit)s."),
    _("Shorten the description and move details into the body of SKILL.md."),
)
PATHS_NEVER_FIT = declare("PATHS_NEVER_FIT", lambda *, pattern: ..., severity="warning")(
    _("No file can match the pattern %(pattern)s in `paths`."),
    _("Use .gitignore syntax, relative to the project folder, with / between folders, such as src/**/*.py."),
)
ENDPOINT_NOT_LISTED = declare("ENDPOINT_NOT_LISTED", lambda *, address: ..., severity="warning")(
    _("Can't use the endpoint %(address)s: the skill's `security` settings do not allow its host."),
    _("Set `security.network` to `allowlist`, and add the endpoint's host to `security.network_allowlist`."),
)
ABP_TOOL = declare("ABP_TOOL", lambda *, field, reason: ..., severity="warning")(
    _("Invalid tool definition in `%(field)s`: %(reason)s."),
    _("Define one or more tools in `abp.tools`, each with a unique name and valid parameters."),
)
SCRIPTS_MISSING = declare("SCRIPTS_MISSING")(
    _("There is no script to run: scripts/ contains no entry point."),
    _("Add an entry point such as scripts/execute.ts, or set the type to `static`."),
)
ENTRY_OUTSIDE_SCRIPTS = declare("ENTRY_OUTSIDE_SCRIPTS", lambda *, entry: ..., severity="warning")(
    _("The entry point %(entry)s can't run because it is outside scripts/."),
    _("Move the file into scripts/ and update `resources.entry`."),
)
ENTRY_NOT_RUNNABLE = declare("ENTRY_NOT_RUNNABLE", lambda *, entry: ..., severity="warning")(
    _("No runtime supports the entry point %(entry)s."), _("Use a .ts, .js, .mjs, .py or .sh file.")
)
RESOURCE_MISSING = declare("RESOURCE_MISSING", lambda *, field, resource: ..., severity="warning")(
    _("`%(field)s` names %(resource)s, which is not in the package."),
    _("Add the file, or remove its name from `%(field)s`."),
)
RESOURCE_UNSAFE = declare("RESOURCE_UNSAFE", lambda *, field, resource: ...)(
    _("`%(field)s` names %(resource)s, which points outside the package."),
    _("List only files in the package."),
)
CODE_OUTSIDE_SCRIPTS = declare("CODE_OUTSIDE_SCRIPTS", severity="warning")(
    _("This file contains executable code but is not in scripts/."),
    _("Move the file into scripts/, or into tests/ if it is a test."),
)
SCRIPT_UNDECLARED = declare("SCRIPT_UNDECLARED", lambda *, script: ..., severity="warning")(
    _("The script %(script)s is declared but not in scripts/."),
    _("Add scripts/%(script)s.py, .sh or .js, or remove the declaration."),
)
SECTION_MISSING = declare("SECTION_MISSING", lambda *, section, chinese: ..., severity="warning")(
    _("SKILL.md has no section “%(section)s”."),
    _("Add a section with the heading “%(section)s” or, in Chinese, “%(chinese)s”."),
)
SINGLE_FILE_SCRIPT = declare("SINGLE_FILE_SCRIPT", lambda *, count: ...)(
    _("A single-file skill must have exactly one Python script; this one has %(count)s."),
    _("Keep one script that reads a JSON request from stdin, or remove `profile: single-file`."),
)
TRIGGER_TESTS_INVALID = declare("TRIGGER_TESTS_INVALID", lambda *, reason: ..., severity="warning")(
    _("Some or all trigger tests were skipped: %(reason)s."),
    _(
        "Write two lists of quoted utterances, `match` and `not_match`, as described in"
        " docs/reference/packages.md."
    ),
)
CASES_INVALID = declare("CASES_INVALID", lambda *, reason: ..., severity="warning")(
    _("Some or all test cases were skipped: %(reason)s."),
    _("Write the list `cases` as described in docs/reference/packages.md."),
)
SCHEMA_NOT_OBJECT = declare("SCHEMA_NOT_OBJECT", lambda *, where: ..., severity="warning")(
    _("`%(where)s` must be a schema of type `object`, because each input has a name."),
    _("Use `type: object` with `properties`."),
)
PROBLEMS_OMITTED = declare("PROBLEMS_OMITTED", lambda *, code, limit: ..., severity="notice")(
    _("Only the first %(limit)s problems with the error code %(code)s are listed; the package has more."),
    _("Fix the listed problems, then check the package again."),
)
