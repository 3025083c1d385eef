from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

IMPORT_NO_SKILL_MD = declare("IMPORT_NO_SKILL_MD", severity="notice")(
    _("This folder was skipped because it has no SKILL.md."),
    _("Add a SKILL.md if this is a skill; to import nested skills, use the `recursive` option."),
)
IMPORT_NOT_IN_ROOT = declare("IMPORT_NOT_IN_ROOT", severity="notice")(
    _(
        "This skill was skipped because it is not directly inside a folder named `skills` or a folder that "
        "ship.json or the `paths` option lists."
    ),
    _(
        "Move the skill into a folder named `skills`, list its parent folder in "
        "`skills.paths` of ship.json or in the `paths` option, or import with "
        "the `recursive` option."
    ),
)
IMPORT_ROOT_MISSING = declare("IMPORT_ROOT_MISSING", severity="notice")(
    _("This skills folder is listed in ship.json or in the `paths` option, but it does not exist."),
    _("Create the folder, or remove its path from ship.json or from the `paths` option."),
)
IMPORT_SETTINGS = declare("IMPORT_SETTINGS", severity="notice")(
    _("Can't read ship.json: the file is not valid JSON, or `skills.paths` is not a list of paths."),
    _('Write valid JSON, such as {"skills": {"paths": [".claude/skills"]}}.'),
)
IMPORT_NO_FOLDER = declare("IMPORT_NO_FOLDER", severity="notice")(
    _("This file was skipped because a skill in this location must be a folder."),
    _("Put the file into a folder of its own and name it SKILL.md, or move it to commands/."),
)
IMPORT_HIDDEN = declare("IMPORT_HIDDEN", severity="notice")(
    _("This folder was skipped because its name starts with a dot."),
    _("Remove the leading dot from the name if this is a skill."),
)
IMPORT_IGNORED = declare("IMPORT_IGNORED", severity="notice")(
    _("This path was skipped because .gitignore excludes it."),
    _("If the path contains a skill, change .gitignore so that it no longer excludes the path."),
)
IMPORT_LINK_BROKEN = declare("IMPORT_LINK_BROKEN", severity="notice")(
    _("This symbolic link was skipped because it does not point to a folder."),
    _("Point the link to a folder with a SKILL.md, or delete the link."),
)
IMPORT_OUTSIDE = declare("IMPORT_OUTSIDE", severity="notice")(
    _("This path was skipped because it points outside the imported folder."),
    _(
        "Move the target into the imported folder. If the source is a folder on "
        "the server, an administrator can instead import it with the "
        "`allow_external` option."
    ),
)
IMPORT_SAME_FILE = declare("IMPORT_SAME_FILE", lambda *, other: ..., severity="notice")(
    _("This path and %(other)s lead to the same SKILL.md file."),
    _("No action needed: the skill is imported once."),
)
IMPORT_SAME_CONTENT = declare("IMPORT_SAME_CONTENT", lambda *, other: ..., severity="notice")(
    _("This skill has the same content as %(other)s."),
    _("No action needed: the skill is imported once."),
)
IMPORT_SHADOWED = declare("IMPORT_SHADOWED", lambda *, skill, other: ..., severity="notice")(
    _(
        "This folder was skipped: %(other)s contains a skill with the same name, %(skill)s, "
        "and only the most deeply nested one is imported."
    ),
    _("Rename one of the two skills to import both."),
)
IMPORT_CLASH = declare("IMPORT_CLASH", lambda *, other, skill: ...)(
    _("This skill was not imported: %(other)s also has the name %(skill)s, but different content."),
    _("Rename or remove one of the two skills."),
)
IMPORT_NOT_A_SKILL = declare("IMPORT_NOT_A_SKILL", lambda *, name: ..., severity="notice")(
    _("%(name)s was skipped because its name marks it as a module, test or text file."),
    _("If the file is a skill, rename it; names such as README.md, conftest.py or test_*.py are skipped."),
)
IMPORT_ENTRY_MISSING = declare("IMPORT_ENTRY_MISSING", lambda *, entry: ..., severity="notice")(
    _("agent.yaml names %(entry)s, which does not exist."),
    _("Add the file, or remove the skill from agent.yaml."),
)
IMPORT_EMPTY = declare("IMPORT_EMPTY", lambda *, location: ...)(
    _("No skills found in %(location)s."),
    _(
        "Choose a folder of skills, a project with .claude/skills, or an archive or repository "
        "that contains them."
    ),
)
IMPORT_TOO_LARGE = declare("IMPORT_TOO_LARGE", lambda *, limit: ...)(
    _("The source contains more than %(limit)s files and folders."),
    _("Choose a subfolder, or ask an administrator to raise the limit."),
)
IMPORT_LOCATION = declare("IMPORT_LOCATION", lambda *, location, reason: ...)(
    _("Can't read %(location)s: %(reason)s."), _("Correct the path or address.")
)
IMPORT_OPTION = declare("IMPORT_OPTION", lambda *, option: ...)(
    _("The option `%(option)s` is unknown, has an invalid value or conflicts with another option."),
    _("Leave out or correct the option; see docs/reference/imports.md for the options of each source type."),
)
IMPORT_INTERVAL = declare("IMPORT_INTERVAL", lambda *, seconds, least: ...)(
    _("The import interval of this source can't be %(seconds)s seconds."),
    _(
        "Use at least %(least)s seconds, or leave out the interval to import only on demand. "
        "Sources that are folders or archives can't have an interval."
    ),
)
TEAM_REQUIRED = declare("TEAM_REQUIRED")(
    _("`team` is required."), _("Name the team that will own the skills.")
)
IMPORT_UNDER_WAY = declare("IMPORT_UNDER_WAY", lambda *, id: ..., http=409, retryable=True)(
    _("This source is already being imported."), _("Wait for the import %(id)s to finish.")
)
IMPORT_CANCELLED = declare("IMPORT_CANCELLED")(
    _("The import was cancelled. Skills that it had already published stay."),
    _("Import again to publish the remaining skills."),
)
IMPORT_USER_MISSING = declare("IMPORT_USER_MISSING")(
    _("The user who requested this import no longer exists or is inactive."),
    _("Import again with an account that can publish for the team."),
)
IMPORT_ERROR = declare("IMPORT_ERROR", lambda *, reason: ..., http=500, retryable=True)(
    _("The import failed because of a server error: %(reason)s."),
    _("Import again; if it still fails, ask an administrator to check the server log."),
)
IMPORT_ARCHIVE_GONE = declare("IMPORT_ARCHIVE_GONE", lambda *, archive: ..., http=410)(
    _("%(archive)s was deleted, because it contained a purged version."),
    _("Upload an archive without the purged version."),
)
