"""Error codes for reading a package: archive, paths, SKILL.md, front matter and schemas."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

ARCHIVE_TOO_LARGE = declare("ARCHIVE_TOO_LARGE", lambda *, size, limit: ..., http=413)(
    _("The file has at least %(size)s bytes; the maximum is %(limit)s."),
    _("Remove files that the skill does not need, or host large files elsewhere."),
)
ARCHIVE_FORMAT = declare("ARCHIVE_FORMAT")(
    _("The format of the file is not supported."),
    _("Use a .zip or .tar.gz that contains SKILL.md, or publish SKILL.md alone."),
)
ARCHIVE_TRUNCATED = declare("ARCHIVE_TRUNCATED", lambda *, reason: ...)(
    _("The archive is incomplete: %(reason)s."), _("Create the archive again and upload the complete file.")
)
ARCHIVE_AMBIGUOUS = declare("ARCHIVE_AMBIGUOUS", lambda *, reason: ...)(
    _("The archive is ambiguous, so programs may unpack it differently: %(reason)s."),
    _("Create the archive again with a standard zip or tar program."),
)
ARCHIVE_GAPS = declare("ARCHIVE_GAPS", lambda *, reason: ...)(
    _("The archive contains gaps, overlaps or extra data: %(reason)s."),
    _("Create the archive again with a standard zip or tar program, with no data before or after it."),
)
ARCHIVE_DISAGREES = declare("ARCHIVE_DISAGREES", lambda *, reason: ...)(
    _("The archive contains conflicting data: %(reason)s."),
    _("Create the archive again with a standard zip or tar program."),
)
ARCHIVE_DAMAGED = declare("ARCHIVE_DAMAGED", lambda *, reason: ...)(
    _("The archive is damaged: %(reason)s."), _("Create the archive again and upload the complete file.")
)
ARCHIVE_SPLIT = declare("ARCHIVE_SPLIT")(
    _("The archive is one part of a split archive."), _("Create a single archive that is not split.")
)
ARCHIVE_ENCRYPTED = declare("ARCHIVE_ENCRYPTED")(
    _("Can't read the archive: this entry is encrypted."), _("Create the archive without a password.")
)
ARCHIVE_METHOD = declare("ARCHIVE_METHOD", lambda *, method: ...)(
    _("Can't read the archive: this entry uses an unsupported compression method (%(method)s)."),
    _("Create the archive again with the deflate method."),
)
ARCHIVE_TOO_MANY_ENTRIES = declare("ARCHIVE_TOO_MANY_ENTRIES", lambda *, limit: ..., http=413)(
    _("The package contains more than %(limit)s files and folders."),
    _("Remove files that the skill does not need, such as installed dependencies."),
)
PACKAGE_TOO_LARGE = declare("PACKAGE_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The unpacked package is larger than %(limit)s bytes."),
    _("Remove files that the skill does not need, or host large files elsewhere."),
)
FILE_TOO_LARGE = declare("FILE_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The file is larger than %(limit)s bytes."), _("Reduce its size, or host it elsewhere.")
)
ENTRY_LINK = declare("ENTRY_LINK")(
    _("This entry is a link; packages can't contain links."),
    _("Replace the link with the file or folder that it points to."),
)
ENTRY_SPECIAL = declare("ENTRY_SPECIAL", lambda *, kind: ...)(
    _("The entry is neither a file nor a folder (type: %(kind)s)."),
    _("Remove the entry; a package can only contain files and folders."),
)
ENTRY_SPARSE = declare("ENTRY_SPARSE")(
    _("The archive stores a file in sparse format, which packages don't support."),
    _("Create the archive again without sparse files (GNU tar: without --sparse), or use a zip file."),
)
FILE_UNREADABLE = declare("FILE_UNREADABLE", lambda *, reason: ...)(
    _("Can't access the file or folder: %(reason)s."),
    _("Use an existing path that you have permission to read (or to write to, when you create files)."),
)
PATH_NOT_UTF8 = declare("PATH_NOT_UTF8")(
    _("The file name is not valid UTF-8."), _("Create the archive with a program that writes UTF-8 names.")
)
PATH_UNSAFE = declare("PATH_UNSAFE", lambda *, reason: ...)(
    _("The path is not valid in a package: %(reason)s."),
    _("Use paths relative to the package folder, with / between the parts."),
)
PATH_CHARACTERS = declare("PATH_CHARACTERS", lambda *, reason: ...)(
    _("The path contains characters that some systems can't store (%(reason)s)."),
    _("Rename the file or folder."),
)
PATH_INVISIBLE = declare("PATH_INVISIBLE", lambda *, character: ...)(
    _("The path contains the invisible character %(character)s and can be mistaken for another path."),
    _("Rename the file or folder without this character."),
)
PATH_RESERVED = declare("PATH_RESERVED", lambda *, name: ...)(
    _("%(name)s is a reserved device name on some systems."), _("Rename the file or folder.")
)
PATH_TOO_LONG = declare("PATH_TOO_LONG", lambda *, reason: ...)(
    _("The path is too long (%(reason)s)."), _("Shorten the names of the file and its folders.")
)
PATH_TOO_DEEP = declare("PATH_TOO_DEEP", lambda *, limit: ...)(
    _("The path has more than %(limit)s nested folders."), _("Use fewer nested folders.")
)
PATH_CLASH = declare("PATH_CLASH", lambda *, other: ...)(
    _("The path conflicts with %(other)s on some or all systems."),
    _("Rename one of the two paths so that they differ by more than case or accents."),
)
SKILL_MISSING = declare("SKILL_MISSING")(
    _("SKILL.md was not found at the top level of the package or in its only folder."),
    _("Move SKILL.md to the top level, or into the one folder that contains all files."),
)
SKILL_AMBIGUOUS = declare("SKILL_AMBIGUOUS", lambda *, paths: ...)(
    _("The package contains more than one SKILL.md: %(paths)s."),
    _("Create a separate package for each skill."),
)
SKILL_STRAY_FILES = declare("SKILL_STRAY_FILES", lambda *, folder: ...)(
    _("The file is outside the folder %(folder)s, which contains SKILL.md."),
    _("Move the file into that folder, or remove it."),
)
SKILL_TOO_LARGE = declare("SKILL_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("SKILL.md is larger than %(limit)s bytes."), _("Move long sections into files in references/.")
)
SKILL_NOT_TEXT = declare("SKILL_NOT_TEXT", lambda *, reason: ...)(
    _("SKILL.md contains invalid UTF-8 at %(reason)s."), _("Save the file as UTF-8.")
)
SKILL_RENAMED = declare("SKILL_RENAMED", lambda *, name: ..., severity="notice")(
    _("%(name)s was renamed to SKILL.md."),
    _("No action needed; name the file SKILL.md to avoid this notice."),
)
FILES_DROPPED = declare("FILES_DROPPED", lambda *, count, first: ..., severity="notice")(
    _("Ignored system or editor files: %(count)s, including %(first)s."), _("No action needed.")
)
FRONT_MATTER_MISSING = declare("FRONT_MATTER_MISSING", severity="notice")(
    _("SKILL.md has no front matter; its fields come from METADATA.yml, the folder name or the text."),
    _("Start SKILL.md with a --- line, then `name` and `description`, then another --- line."),
)
FRONT_MATTER_UNCLOSED = declare("FRONT_MATTER_UNCLOSED")(
    _("The front matter starts with --- but has no closing ---."),
    _("Add a line with --- after the last field."),
)
FRONT_MATTER_TOO_LARGE = declare("FRONT_MATTER_TOO_LARGE", lambda *, limit: ..., http=413)(
    _("The front matter or METADATA.yml is larger than %(limit)s bytes."),
    _("Move long texts into the body of SKILL.md."),
)
FRONT_MATTER_INVALID = declare("FRONT_MATTER_INVALID", lambda *, reason: ...)(
    _("Invalid YAML: %(reason)s."), _("Fix the line; quote values that contain special characters.")
)
FRONT_MATTER_NOT_FIELDS = declare("FRONT_MATTER_NOT_FIELDS")(
    _("The front matter or METADATA.yml must contain fields with values, not a list or plain text."),
    _("Write one field per line, such as `name: my-skill`."),
)
FRONT_MATTER_REFERENCE = declare("FRONT_MATTER_REFERENCE", lambda *, text: ...)(
    _("The YAML contains an anchor, alias or tag, which is not supported (%(text)s)."),
    _("Write the value out in full, or quote it if it is text."),
)
FRONT_MATTER_TOO_DEEP = declare("FRONT_MATTER_TOO_DEEP", lambda *, limit: ...)(
    _("The YAML is nested more than %(limit)s levels deep."), _("Use fewer nested levels.")
)
FRONT_MATTER_TOO_MANY = declare("FRONT_MATTER_TOO_MANY", lambda *, limit: ...)(
    _("The YAML contains more than %(limit)s values."),
    _("Move long lists into a separate file in the package."),
)
FRONT_MATTER_DUPLICATE = declare("FRONT_MATTER_DUPLICATE", lambda *, field, first: ...)(
    _("The field `%(field)s` appears twice; the first is on line %(first)s."),
    _("Remove one of the two fields."),
)
FRONT_MATTER_KEY = declare("FRONT_MATTER_KEY")(
    _("A field name must be plain text, not a list or an object."),
    _("Write the field as `name: value`, and quote the name if it contains special characters."),
)
FRONT_MATTER_QUOTED = declare("FRONT_MATTER_QUOTED", lambda *, field: ..., severity="notice")(
    _("The value of `%(field)s` is not valid YAML and was read as text."), _("Quote the value.")
)
METADATA_USED = declare("METADATA_USED", lambda *, fields, file: ..., severity="notice")(
    _("Fields taken from %(file)s because SKILL.md does not set them: %(fields)s."),
    _(
        "Move the fields to SKILL.md by hand, or ask an administrator to do this with manage.py "
        "migrate_package."
    ),
)
TEXT_NOT_STORABLE = declare("TEXT_NOT_STORABLE", lambda *, character: ...)(
    _("The text contains a character that can't be stored (%(character)s)."), _("Remove the character.")
)
KIND_UNKNOWN = declare("KIND_UNKNOWN", lambda *, kind, kinds: ...)(
    _("Unknown skill template: %(kind)s."), _("Choose one of: %(kinds)s.")
)
SKILL_NAME_INVALID = declare("SKILL_NAME_INVALID", lambda *, name, most: ...)(
    _("%(name)s is not a valid skill name."),
    _(
        "Use at most %(most)s lowercase letters, digits and hyphens; a hyphen can't come first, "
        "last or next to another hyphen."
    ),
)
SKILL_TEXT_INVALID = declare("SKILL_TEXT_INVALID", lambda *, field, most: ...)(
    _("%(field)s is longer than %(most)s characters or contains control characters."),
    _("Use one line of plain text of at most %(most)s characters."),
)
MIGRATION_FAILED = declare("MIGRATION_FAILED", lambda *, reason: ..., http=500)(
    _("Can't migrate the folder: %(reason)s; nothing was changed."),
    _("Allow writing to the parent folder, and free enough disk space for a copy."),
)
MIGRATION_INTERRUPTED = declare("MIGRATION_INTERRUPTED", lambda *, reason, path: ..., http=500)(
    _("Can't finish the migration: %(reason)s; the original folder is now at %(path)s."),
    _("Move the original folder from %(path)s back to where it was, then try again."),
)
FIELD_TYPE = declare("FIELD_TYPE", lambda *, field, expected, found: ..., severity="warning")(
    _("Can't use `%(field)s`: it must be %(expected)s, not %(found)s."),
    _("Change the value of `%(field)s`, or remove the field."),
)
FIELD_VALUE = declare("FIELD_VALUE", lambda *, field, found, expected: ..., severity="warning")(
    _("Invalid value in `%(field)s`: %(found)s; expected: %(expected)s."),
    _("Change the value of `%(field)s`, or remove the field."),
)
FIELD_LIST_AS_TEXT = declare("FIELD_LIST_AS_TEXT", lambda *, field: ..., severity="warning")(
    _("`%(field)s` was read as a comma-separated list."),
    _("Write `%(field)s` as a YAML list, with one item per line."),
)
FIELD_MISSPELLED = declare("FIELD_MISSPELLED", lambda *, field, known: ..., severity="notice")(
    _("The field `%(field)s` is unknown and has no effect; the closest known field is `%(known)s`."),
    _("Rename the field to `%(known)s`, or remove it."),
)
NAME_MISSING = declare("NAME_MISSING")(
    _("The skill has no `name`, and no folder or file name to use instead."),
    _("Add `name` to the front matter (between the --- lines at the start of SKILL.md)."),
)
NAME_FROM_FOLDER = declare("NAME_FROM_FOLDER", lambda *, name: ..., severity="notice")(
    _("The skill has no `name`; the folder or file name %(name)s is used instead."),
    _("Add `name` to the front matter (between the --- lines at the start of SKILL.md)."),
)
NAME_NOT_SLUG = declare("NAME_NOT_SLUG", lambda *, name, slug: ..., severity="notice")(
    _("The skill's address uses %(slug)s because the name %(name)s is not a valid slug."),
    _("Use lowercase letters, digits and hyphens in `name`, and put the display name in `displayName`."),
)
NAME_TOO_LONG = declare("NAME_TOO_LONG", lambda *, length, limit: ...)(
    _("The name has %(length)s characters; the maximum is %(limit)s."), _("Use a shorter name.")
)
DESCRIPTION_MISSING = declare("DESCRIPTION_MISSING")(
    _("The skill has no `description`, and its text has no paragraph to use instead."),
    _("Add `description` to the front matter: what the skill does and when to use it."),
)
DESCRIPTION_FROM_BODY = declare("DESCRIPTION_FROM_BODY", severity="notice")(
    _("The description was taken from the first paragraph of the text."),
    _("Add `description` to the front matter (between the --- lines at the start of SKILL.md)."),
)
VERSION_NORMALISED = declare("VERSION_NORMALISED", lambda *, written, version: ..., severity="notice")(
    _("Version %(written)s was read as %(version)s."), _("Write versions as MAJOR.MINOR.PATCH.")
)
VERSION_INVALID = declare("VERSION_INVALID", lambda *, written: ..., severity="warning")(
    _("%(written)s is not a valid version number."), _("Write versions as MAJOR.MINOR.PATCH, such as 1.0.0.")
)
NETWORK_WITHOUT_HOSTS = declare("NETWORK_WITHOUT_HOSTS", severity="notice")(
    _("The skill requests network access but lists no hosts, so every host is blocked."),
    _("List the hosts in `security.network_allowlist`."),
)
NETWORK_PATH_IGNORED = declare("NETWORK_PATH_IGNORED", lambda *, host: ..., severity="warning")(
    _("%(host)s contains a path, but the skill can access every path of the host."),
    _("List only the host and port, because paths can't be restricted."),
)
ENVIRONMENT_NAME_TAKEN = declare("ENVIRONMENT_NAME_TAKEN", lambda *, field: ..., severity="warning")(
    _(
        "`%(field)s` was ignored: this variable is reserved for the system, the language runtimes "
        "or the sandbox."
    ),
    _("Choose another name for the variable, and read that name in the script."),
)
ENTRY_UNSAFE = declare("ENTRY_UNSAFE", lambda *, entry: ...)(
    _("The entry point %(entry)s points outside the package."), _("Choose a file in scripts/.")
)
SCHEMA_INVALID = declare("SCHEMA_INVALID", lambda *, where, reason: ...)(
    _("`%(where)s` is not a valid JSON Schema: %(reason)s."), _("Fix the schema at the given location.")
)
SCHEMA_REFERENCE = declare("SCHEMA_REFERENCE", lambda *, where, reference: ...)(
    _("`%(where)s` refers to %(reference)s, but only references within the schema (#/…) are supported."),
    _("Copy the referenced schema into `$defs`."),
)
SCHEMA_TOO_LARGE = declare("SCHEMA_TOO_LARGE", lambda *, where, reason: ...)(
    _("`%(where)s` is too large: %(reason)s."), _("Use a smaller or flatter schema.")
)
VALUE_INVALID = declare("VALUE_INVALID", lambda *, reason: ...)(
    _("%(reason)s"), _("Use a value that matches the schema.")
)
VALUE_TOO_COSTLY = declare("VALUE_TOO_COSTLY")(
    _("The value is too deeply nested or too large to validate against this schema."),
    _("Send less data, or simplify the schema."),
)
