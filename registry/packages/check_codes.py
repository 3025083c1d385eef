"""The codes of fields, layout and schemas; ``codes`` declares them."""

from __future__ import annotations

from registry.packages.problems import Code
from registry.packages.problems import gettext_noop as _

FIELDS = (
    Code(
        "FIELD_MISSING",
        _("The required field %(field)s is missing."),
        _("Add %(field)s to the front matter: %(expected)s."),
    ),
    Code(
        "FIELD_TYPE",
        _("%(field)s must be %(expected)s, not %(found)s; it was left out."),
        _("Write %(field)s as %(expected)s."),
        severity="warning",
    ),
    Code(
        "FIELD_VALUE",
        _("%(field)s cannot be %(found)s; it must be %(expected)s."),
        _("Write %(field)s as %(expected)s."),
        severity="warning",
    ),
    Code(
        "FIELD_LIST_AS_TEXT",
        _("%(field)s was read as a list separated by commas."),
        _("Write %(field)s as a list."),
        severity="warning",
    ),
    Code(
        "NAME_MISSING",
        _("The skill has no name, and there is no folder or file name to take one from."),
        _("Add name to the front matter."),
    ),
    Code(
        "NAME_FROM_FOLDER",
        _("The skill has no name of its own; %(name)s was taken from the folder or file."),
        _("Add name to the front matter."),
        severity="notice",
    ),
    Code(
        "NAME_NOT_SLUG",
        _("The name %(name)s is shown as it is; in addresses the skill is called %(slug)s."),
        _("Use lower-case letters, digits and hyphens in name, and displayName for the name that is shown."),
        severity="notice",
    ),
    Code(
        "NAME_TOO_LONG",
        _("The name has %(length)s characters; at most %(limit)s are taken."),
        _("Shorten it."),
    ),
    Code(
        "DESCRIPTION_MISSING",
        _("The skill has no description, and its text has no paragraph to take one from."),
        _("Add description to the front matter: what the skill does and when to use it."),
    ),
    Code(
        "DESCRIPTION_FROM_BODY",
        _("The description was taken from the first paragraph of the text."),
        _("Add description to the front matter."),
        severity="notice",
    ),
    Code(
        "DESCRIPTION_TOO_LONG",
        _("The description has %(length)s characters; at most %(limit)s are wanted."),
        _("Shorten it; details belong into the text below."),
        severity="warning",
    ),
    Code(
        "PATHS_NEVER_FIT",
        _("No file fits the pattern %(pattern)s."),
        _("Write it as in .gitignore, from the project's folder, with / between folders: src/**/*.py."),
        severity="warning",
    ),
    Code(
        "VERSION_NORMALISED",
        _("Version %(written)s was read as %(version)s."),
        _("Write versions as MAJOR.MINOR.PATCH."),
        severity="notice",
    ),
    Code(
        "VERSION_INVALID",
        _("%(written)s is not a version."),
        _("Write versions as MAJOR.MINOR.PATCH, such as 1.0.0."),
        severity="warning",
    ),
    Code(
        "NETWORK_WITHOUT_HOSTS",
        _("The skill asks for network but names no host, so every host is refused."),
        _("List the hosts under security: network_allowlist."),
        severity="notice",
    ),
    Code(
        "NETWORK_PATH_IGNORED",
        _("%(host)s names a path, but only its host and port can be enforced: every path there is reached."),
        _("Write the host alone, so that who allows the skill knows what it may reach."),
        severity="warning",
    ),
    Code(
        "ENVIRONMENT_NAME_TAKEN",
        _("%(field)s is left out: loaders, runtimes or the sandbox read that variable."),
        _("Give the variable a name of the skill's own, and read that in the script."),
        severity="warning",
    ),
    Code(
        "ENDPOINT_UNLISTED",
        _("The endpoint %(address)s is no host of network_allowlist, so nothing will be asked of it."),
        _("Set security.network to allowlist and name the endpoint's host in network_allowlist."),
        severity="warning",
    ),
    Code(
        "ABP_TOOL",
        _("The tool in %(field)s is not usable: %(reason)s."),
        _("Give each tool of abp a name of its own and parameters with a type each."),
        severity="warning",
    ),
)

LAYOUT = (
    Code(
        "SCRIPTS_MISSING",
        _("There is no script to run: scripts/ holds no entry."),
        _("Add an entry such as scripts/execute.ts, or make the skill static."),
    ),
    Code(
        "ENTRY_UNSAFE",
        _("The entry %(entry)s leads out of the package."),
        _("Name a file below scripts/."),
    ),
    Code(
        "ENTRY_OUTSIDE_SCRIPTS",
        _("The entry %(entry)s is not below scripts/, so it cannot be run."),
        _("Move it to scripts/ and name it there."),
        severity="warning",
    ),
    Code(
        "ENTRY_NOT_RUNNABLE",
        _("No runtime runs the entry %(entry)s."),
        _("Use a .ts, .js, .mjs, .py or .sh file."),
        severity="warning",
    ),
    Code(
        "RESOURCE_MISSING",
        _("%(field)s names %(resource)s, which is not in the package."),
        _("Add the file, or take it off the list."),
        severity="warning",
    ),
    Code(
        "RESOURCE_UNSAFE",
        _("%(field)s names %(resource)s, which leads out of the package."),
        _("Name files of the package only."),
    ),
    Code(
        "CODE_OUTSIDE_SCRIPTS",
        _("Executable code lies outside scripts/."),
        _("Move it below scripts/; nothing outside is ever run."),
        severity="warning",
    ),
    Code(
        "SCRIPT_UNDECLARED",
        _("The script %(script)s is declared here but is not in scripts/."),
        _("Add scripts/%(script)s.py, .sh or .js, or take the line out."),
        severity="warning",
    ),
    Code(
        "SECTION_MISSING",
        _("The text has no section %(section)s."),
        _("Add a heading %(section)s (%(chinese)s) with what belongs there."),
        severity="warning",
    ),
    Code(
        "SINGLE_FILE_SCRIPT",
        _("A single-file skill has exactly one Python script; here there are %(count)s."),
        _("Keep one script that reads a JSON request from stdin, or drop profile: single-file."),
    ),
)

TRIGGERS = (
    Code(
        "TRIGGER_TESTS_INVALID",
        _("A trigger test cannot be read and is not tried: %(reason)s."),
        _("Write two lists of utterances in quotation marks, match and not_match; see docs/packages.md."),
        severity="warning",
    ),
    Code(
        "TRIGGER_NOT_MET",
        _("“%(utterance)s” must lead here, and is not among the first %(most)s; first is %(first)s."),
        _("Say it among the phrases of triggers, or use its words in the description."),
        severity="warning",
    ),
    Code(
        "TRIGGER_UNWANTED",
        _("“%(utterance)s” must not lead to the skill, and it is offered first."),
        _("Say in the description what the skill is not for, or take these words out of phrases and tags."),
        severity="warning",
    ),
    Code(
        "TRIGGER_TESTS_PASSED",
        _("All trigger tests passed: %(count)s."),
        _("There is nothing to do."),
        severity="notice",
    ),
)

SCHEMAS = (
    Code(
        "SCHEMA_INVALID",
        _("%(where)s is not a JSON Schema: %(reason)s."),
        _("Mend the schema at the place named."),
    ),
    Code(
        "SCHEMA_REFERENCE",
        _("%(where)s refers to %(reference)s; only references within the schema (#/…) are followed."),
        _("Copy what is referred to into $defs."),
    ),
    Code(
        "SCHEMA_TOO_LARGE",
        _("%(where)s is too large: %(reason)s."),
        _("Make the schema smaller or flatter."),
    ),
    Code(
        "SCHEMA_NOT_OBJECT",
        _("%(where)s must describe an object, as inputs are always named."),
        _("Use type: object with properties."),
        severity="warning",
    ),
    Code(
        "VALUE_INVALID",
        _("%(reason)s"),
        _("Give a value that fits the schema."),
    ),
    Code(
        "VALUE_TOO_COSTLY",
        _("The value is too deep or too large to be checked against this schema."),
        _("Send less, or make the schema simpler."),
    ),
)
