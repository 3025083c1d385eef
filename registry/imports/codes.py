"""Why a folder was passed by, a skill refused or an import failed."""

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "IMPORT_NO_SKILL_MD",
        gettext_noop("The folder has no SKILL.md."),
        gettext_noop("Give it one if it is a skill; where skills lie deeper, import with the option deep."),
        severity="notice",
    ),
    Code(
        "IMPORT_NOT_IN_ROOT",
        gettext_noop("The folder has a SKILL.md, but does not lie in a folder of skills."),
        gettext_noop("Name its parent as a root, or import with the option deep."),
        severity="notice",
    ),
    Code(
        "IMPORT_ROOT_MISSING",
        gettext_noop("There is no such folder."),
        gettext_noop("Make it, or take it out of the settings."),
        severity="notice",
    ),
    Code(
        "IMPORT_SETTINGS",
        gettext_noop("The settings file cannot be read: skills.paths is to be a list of paths."),
        gettext_noop('Write it as JSON, such as {"skills": {"paths": [".claude/skills"]}}.'),
        severity="notice",
    ),
    Code(
        "IMPORT_NO_FOLDER",
        gettext_noop("A single file is no skill here."),
        gettext_noop("Put it into a folder of its own as SKILL.md, or into commands/."),
        severity="notice",
    ),
    Code(
        "IMPORT_HIDDEN",
        gettext_noop("The folder is hidden."),
        gettext_noop("Rename it without the dot if it is a skill."),
        severity="notice",
    ),
    Code(
        "IMPORT_IGNORED",
        gettext_noop("The folder is ignored by .gitignore."),
        gettext_noop("Take it out of .gitignore if it is to be imported."),
        severity="notice",
    ),
    Code(
        "IMPORT_LINK_BROKEN",
        gettext_noop("The link leads to no folder."),
        gettext_noop("Let it lead to a folder with a SKILL.md, or take it away."),
        severity="notice",
    ),
    Code(
        "IMPORT_OUTSIDE",
        gettext_noop("This leads out of the imported folder."),
        gettext_noop("Allow external paths if that is meant; only an administrator can."),
        severity="notice",
    ),
    Code(
        "IMPORT_SAME_FILE",
        gettext_noop("This is the same SKILL.md as %(other)s."),
        gettext_noop("Nothing is to be done: it is imported once."),
        severity="notice",
    ),
    Code(
        "IMPORT_SAME_CONTENT",
        gettext_noop("This has the same content as %(other)s."),
        gettext_noop("Nothing is to be done: it is one version."),
        severity="notice",
    ),
    Code(
        "IMPORT_SHADOWED",
        gettext_noop("%(other)s gives the same skill, %(skill)s, and lies deeper."),
        gettext_noop("Rename one of the two if both are to be imported."),
        severity="notice",
    ),
    Code(
        "IMPORT_CLASH",
        gettext_noop("This and %(other)s both give the skill %(skill)s, with different content."),
        gettext_noop("Rename one of the two, or take one away."),
    ),
    Code(
        "IMPORT_NOT_A_SKILL",
        gettext_noop("%(name)s is a module, a test or a text beside the skills."),
        gettext_noop("Rename it if it is a skill."),
        severity="notice",
    ),
    Code(
        "IMPORT_ENTRY_MISSING",
        gettext_noop("agent.yaml names %(entry)s, which is not there."),
        gettext_noop("Add the file, or take the skill out of agent.yaml."),
        severity="notice",
    ),
    Code(
        "IMPORT_EMPTY",
        gettext_noop("There is no skill in %(location)s."),
        gettext_noop(
            "Name a folder of skills, a project with .claude/skills, or an archive or repository of those."
        ),
    ),
    Code(
        "IMPORT_TOO_LARGE",
        gettext_noop("The source holds more than %(limit)s files and folders."),
        gettext_noop("Name a folder within it, or ask the administrator for a higher limit."),
    ),
    Code(
        "IMPORT_LOCATION",
        gettext_noop("%(location)s cannot be read: %(reason)s."),
        gettext_noop("Check the path or address."),
    ),
    Code(
        "IMPORT_OPTION",
        gettext_noop("The option %(option)s is not known here, or has a value that it cannot have."),
        gettext_noop("Leave it away; docs/api.md has the options of each kind of source."),
    ),
    Code(
        "IMPORT_INTERVAL",
        gettext_noop("%(seconds)s seconds is no interval for this source."),
        gettext_noop(
            "Choose at least %(least)s seconds, or none for imports on demand; a folder or archive has none."
        ),
    ),
    Code(
        "TEAM_REQUIRED",
        gettext_noop("It is not said for which team."),
        gettext_noop("Name the team whose skills these will be."),
    ),
    Code(
        "IMPORT_UNDER_WAY",
        gettext_noop("The source is being imported already."),
        gettext_noop("Wait for the import %(id)s to end."),
        http=409,
        retryable=True,
    ),
    Code(
        "IMPORT_NOBODY",
        gettext_noop("Nobody is there any more in whose name this import could act."),
        gettext_noop("Import again as somebody who may publish for the team."),
    ),
    Code(
        "IMPORT_ERROR",
        gettext_noop("The portal failed while it imported: %(reason)s."),
        gettext_noop("Import again; an administrator finds the cause in the log."),
        http=500,
        retryable=True,
    ),
)
