"""Every code of a package problem: the gate's and the front matter's here, the checks' in ``check_codes``."""

from __future__ import annotations

from registry.packages.check_codes import FIELDS, LAYOUT, SCHEMAS, TRIGGERS
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
        _("The YAML cannot be read: %(reason)s."),
        _("Mend the line; put values that hold special characters into quotes."),
    ),
    Code(
        "FRONT_MATTER_NOT_FIELDS",
        _("The front matter is not a list of fields."),
        _("Write one field a line, such as name: my-skill."),
    ),
    Code(
        "FRONT_MATTER_REFERENCE",
        _("The YAML uses an anchor, an alias or a tag (%(text)s)."),
        _("Write the value out, or put it into quotes if it is text."),
    ),
    Code(
        "FRONT_MATTER_TOO_DEEP",
        _("The YAML is nested more than %(limit)s deep."),
        _("Nest less."),
    ),
    Code(
        "FRONT_MATTER_TOO_MANY",
        _("The YAML holds more than %(limit)s values."),
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
        "METADATA_USED",
        _("%(fields)s were taken from %(file)s, as SKILL.md does not say them."),
        _("Migrate the package: all fields belong into the front matter of SKILL.md."),
        severity="notice",
    ),
    Code(
        "TEXT_NOT_STORABLE",
        _("The text holds a character that cannot be stored (%(character)s)."),
        _("Remove the character."),
    ),
)

STARTING = (
    Code(
        "KIND_UNKNOWN",
        _("There is no kind of skill called %(kind)s."),
        _("Choose one of %(kinds)s."),
    ),
    Code(
        "SKILL_NAME_INVALID",
        _("A skill cannot be named %(name)s."),
        _("Use small letters, digits and single hyphens between them, at most %(most)s characters."),
    ),
    Code(
        "SKILL_TEXT_INVALID",
        _("%(field)s is longer than %(most)s characters, or holds characters that no text has."),
        _("Write it as one plain line."),
    ),
    Code(
        "TARGET_EXISTS",
        _("There is something already."),
        _("Name another place, or move away what is there; nothing is overwritten."),
        http=409,
    ),
)

MIGRATION = (
    Code(
        "MIGRATION_FAILED",
        _("The folder could not be changed: %(reason)s. It is as it was."),
        _("Check that you may write to the folder that holds it, and that there is room for a copy."),
        http=500,
    ),
)

declare(*ARCHIVE, *PATHS, *SKILL, *FRONT_MATTER, *STARTING, *FIELDS, *LAYOUT, *TRIGGERS, *SCHEMAS, *MIGRATION)
