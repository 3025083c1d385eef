"""Every code of a package problem: the gate's, the front matter's, the checks', the schemas'."""

from __future__ import annotations

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

ARCHIVE = (
    Code(
        "ARCHIVE_TOO_LARGE",
        _("The upload is %(size)s bytes; at most %(limit)s are taken."),
        _("Leave out what the skill does not need, or host large files elsewhere."),
        http=413,
    ),
    Code(
        "ARCHIVE_FORMAT",
        _("This is neither a zip, nor a tar.gz, nor a SKILL.md."),
        _("Upload a .zip or .tar.gz with SKILL.md in it, or SKILL.md alone."),
    ),
    Code(
        "ARCHIVE_TRUNCATED",
        _("The archive ends before it is whole: %(reason)s."),
        _("Make the archive again and upload it whole."),
    ),
    Code(
        "ARCHIVE_AMBIGUOUS",
        _("The archive can be read in more than one way: %(reason)s."),
        _("Make the archive again with an ordinary zip program."),
    ),
    Code(
        "ARCHIVE_GAPS",
        _("The archive's entries do not follow one another exactly: %(reason)s."),
        _("Make the archive again with an ordinary zip program, nothing put before or after it."),
    ),
    Code(
        "ARCHIVE_DISAGREES",
        _("The archive says two things of one entry: %(reason)s."),
        _("Make the archive again with an ordinary zip program."),
    ),
    Code(
        "ARCHIVE_DAMAGED",
        _("The archive is damaged: %(reason)s."),
        _("Make the archive again and upload it whole."),
    ),
    Code(
        "ARCHIVE_SPLIT",
        _("The archive is one part of several."),
        _("Make one archive that is not split."),
    ),
    Code(
        "ARCHIVE_ENCRYPTED",
        _("The entry is encrypted."),
        _("Make the archive without a password."),
    ),
    Code(
        "ARCHIVE_METHOD",
        _("The entry is compressed in a way that is not taken (method %(method)s)."),
        _("Make the archive with the usual method (deflate)."),
    ),
    Code(
        "ARCHIVE_TOO_MANY_ENTRIES",
        _("The package has more than %(limit)s files and folders."),
        _("Leave out what the skill does not need, such as installed dependencies."),
        http=413,
    ),
    Code(
        "PACKAGE_TOO_LARGE",
        _("Unpacked, the package is larger than %(limit)s bytes."),
        _("Leave out what the skill does not need, or host large files elsewhere."),
        http=413,
    ),
    Code(
        "FILE_TOO_LARGE",
        _("The file is larger than %(limit)s bytes."),
        _("Make it smaller, or host it elsewhere."),
        http=413,
    ),
    Code(
        "ENTRY_LINK",
        _("The entry is a link."),
        _("Put the file itself in its place."),
    ),
    Code(
        "ENTRY_SPECIAL",
        _("The entry is neither a file nor a folder: %(kind)s."),
        _("Leave it out: a package holds files and folders only."),
    ),
    Code(
        "FILE_UNREADABLE",
        _("It cannot be read: %(reason)s."),
        _("Check that it exists and that you may read it."),
    ),
)

PATHS = (
    Code(
        "PATH_NOT_UTF8",
        _("The file's name is not UTF-8."),
        _("Make the archive with a program that writes UTF-8 names."),
    ),
    Code(
        "PATH_UNSAFE",
        _("The path leads out of the package or is not plain: %(reason)s."),
        _("Use paths below the package's folder, with / between their parts."),
    ),
    Code(
        "PATH_CHARACTERS",
        _("The path holds what some systems cannot store: %(reason)s."),
        _("Rename the file."),
    ),
    Code(
        "PATH_RESERVED",
        _("%(name)s is the name of a device on some systems."),
        _("Rename the file."),
    ),
    Code(
        "PATH_TOO_LONG",
        _("The path is too long: %(reason)s."),
        _("Shorten the names of the file and its folders."),
    ),
    Code(
        "PATH_TOO_DEEP",
        _("The path is more than %(limit)s folders deep."),
        _("Use fewer folders within one another."),
    ),
    Code(
        "PATH_CLASH",
        _("The path is the same as %(other)s on some systems."),
        _("Rename one of the two: names that differ only in case or accents are one name there."),
    ),
)

SKILL = (
    Code(
        "SKILL_MISSING",
        _("There is no SKILL.md at the top of the package or in its one folder."),
        _("Put SKILL.md at the top, or into the one folder that holds everything."),
    ),
    Code(
        "SKILL_AMBIGUOUS",
        _("There is more than one SKILL.md: %(paths)s."),
        _("Make one package of each skill."),
    ),
    Code(
        "SKILL_STRAY_FILES",
        _("The file lies beside the folder %(folder)s, which holds SKILL.md."),
        _("Put it into that folder, or leave it out."),
    ),
    Code(
        "SKILL_TOO_LARGE",
        _("SKILL.md is larger than %(limit)s bytes."),
        _("Move long parts into files under references/."),
        http=413,
    ),
    Code(
        "SKILL_NOT_TEXT",
        _("SKILL.md is not UTF-8 text: %(reason)s."),
        _("Save it as UTF-8."),
    ),
    Code(
        "SKILL_RENAMED",
        _("%(name)s was renamed to SKILL.md."),
        _("Nothing to do; name it SKILL.md to be rid of this notice."),
        severity="notice",
    ),
    Code(
        "FILES_DROPPED",
        _("%(count)s files of the system or an editor were left out, the first of them %(first)s."),
        _("Nothing to do."),
        severity="notice",
    ),
)

FRONT_MATTER = (
    Code(
        "FRONT_MATTER_MISSING",
        _("SKILL.md has no front matter; name and description were taken from elsewhere."),
        _("Begin SKILL.md with --- , then name and description, then --- ."),
        severity="notice",
    ),
    Code(
        "FRONT_MATTER_UNCLOSED",
        _("The front matter is opened with --- and never closed."),
        _("Put a line with --- after its last field."),
    ),
    Code(
        "FRONT_MATTER_TOO_LARGE",
        _("The front matter is larger than %(limit)s bytes."),
        _("Move long texts into the body of SKILL.md."),
        http=413,
    ),
    Code(
        "FRONT_MATTER_INVALID",
        _("The front matter is not YAML: %(reason)s."),
        _("Mend the line; put values that hold special characters into quotes."),
    ),
    Code(
        "FRONT_MATTER_NOT_FIELDS",
        _("The front matter is not a list of fields."),
        _("Write one field a line, such as name: my-skill."),
    ),
    Code(
        "FRONT_MATTER_REFERENCE",
        _("The front matter uses an anchor, an alias or a tag (%(text)s)."),
        _("Write the value out, or put it into quotes if it is text."),
    ),
    Code(
        "FRONT_MATTER_TOO_DEEP",
        _("The front matter is nested more than %(limit)s deep."),
        _("Nest less."),
    ),
    Code(
        "FRONT_MATTER_TOO_MANY",
        _("The front matter holds more than %(limit)s values."),
        _("Move long lists into a file of the package."),
    ),
    Code(
        "FRONT_MATTER_DUPLICATE",
        _("The field %(field)s stands there twice, first in line %(first)s."),
        _("Keep one of them."),
    ),
    Code(
        "FRONT_MATTER_KEY",
        _("A field's name is itself a list or a group of fields."),
        _("Use plain text for names of fields."),
    ),
    Code(
        "FRONT_MATTER_QUOTED",
        _("The value of %(field)s was read as text; as it stands it is not YAML."),
        _("Put the value into quotes."),
        severity="notice",
    ),
    Code(
        "TEXT_NOT_STORABLE",
        _("The text holds a character that cannot be stored (%(character)s)."),
        _("Remove the character."),
    ),
)

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

declare(*ARCHIVE, *PATHS, *SKILL, *FRONT_MATTER, *FIELDS, *LAYOUT, *SCHEMAS)
