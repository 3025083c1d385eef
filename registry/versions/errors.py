from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

VERSION_EXISTS = declare("VERSION_EXISTS", lambda *, skill, version: ..., http=409)(
    _("Can't publish: %(skill)s %(version)s already exists with different content."),
    _("Raise the version number, or leave it out to get the next number automatically."),
)
SKILL_EXISTS = declare("SKILL_EXISTS", lambda *, skill: ..., http=409)(
    _("The team already has a skill named %(skill)s."),
    _("Choose another name or team, or edit the existing skill."),
)
EDIT_CONFLICT = declare("EDIT_CONFLICT", lambda *, skill, version: ..., http=409)(
    _("Can't publish: %(skill)s %(version)s was published while you were editing."),
    _("Compare that version with your changes, then publish your changes as the next version."),
)
EDIT_RENAMES = declare("EDIT_RENAMES", lambda *, other, slug: ...)(
    _("Can't rename the skill by editing: the name in SKILL.md is %(other)s, not %(slug)s."),
    _("Restore the name in SKILL.md. To create another skill, publish it as a separate package."),
)
VERSION_DIFFERS = declare("VERSION_DIFFERS", lambda *, asked, stated: ...)(
    _("Can't publish as version %(asked)s: the package states version %(stated)s."),
    _("Change the version in SKILL.md to the requested one, or request no version."),
)
VERSION_NUMBER_INVALID = declare("VERSION_NUMBER_INVALID", lambda *, version: ...)(
    _("%(version)s is not a valid version number, or it has more than 64 characters."),
    _("Use a semantic version, such as 1.2.0."),
)
SCAN_HOLDS = declare("SCAN_HOLDS", lambda *, rule, why, clear: ..., severity="warning")(
    _("The version is held for review (%(rule)s): %(why)s"),
    _(
        "%(clear)s A maintainer other than the publisher can also review the findings and "
        "release the version."
    ),
)
REPORT_HOLDS = declare("REPORT_HOLDS", severity="warning")(
    _(
        "This version is held: an earlier version was confirmed as harmful, and no version has "
        "passed review since."
    ),
    _("Ask a maintainer other than the publisher to review and release the version."),
)
SCAN_FINDS = declare("SCAN_FINDS", lambda *, rule, why, clear: ..., severity="notice")(
    _("%(rule)s: %(why)s"),
    _("%(clear)s You can also ask a maintainer to suppress the finding and give a reason."),
)
VERSION_PURGED = declare("VERSION_PURGED", lambda *, version: ..., http=409)(
    _("Can't publish: %(version)s was purged, so its number and content can't be used again."),
    _("Publish different content under another version number."),
)
SKILL_PURGED = declare("SKILL_PURGED", lambda *, skill: ..., http=409)(
    _("Can't publish: %(skill)s was purged, so its name can't be used again."),
    _("Publish under a different name."),
)
SUCCESSOR_INVALID = declare("SUCCESSOR_INVALID", lambda *, successor: ...)(
    _(
        "Can't use %(successor)s as the successor: it doesn't exist, is yanked "
        "or held, is the skill or version to be replaced, or would itself be "
        "replaced by this skill."
    ),
    _("Choose another version that is neither yanked nor held, or another skill."),
)
CHANNEL_NAME_INVALID = declare("CHANNEL_NAME_INVALID", lambda *, channel: ...)(
    _("%(channel)s is not a valid channel name."),
    _(
        "Use up to 32 lowercase letters, digits or hyphens, starting with a letter; version "
        "numbers and reserved words such as latest are not allowed."
    ),
)
SLUG_REDIRECTED = declare("SLUG_REDIRECTED", lambda *, skill, to: ..., http=409)(
    _("Can't publish as %(skill)s: this name redirects to %(to)s."),
    _("In SKILL.md, replace the name with the one that it redirects to, or with a new name."),
)
SLUG_TAKEN = declare("SLUG_TAKEN", lambda *, skill: ..., http=409)(
    _("The address %(skill)s is already in use, or was used by another skill."), _("Choose another name.")
)
MERGE_INVALID = declare("MERGE_INVALID", lambda *, skill, into: ..., http=409)(
    _("Can't merge %(skill)s into %(into)s: they are the same skill, or one of them has been merged."),
    _("Choose two different skills that have not been merged."),
)
VISIBILITY_UNKNOWN = declare("VISIBILITY_UNKNOWN", lambda *, visibility: ...)(
    _("%(visibility)s is not a valid visibility."), _("Choose private, site or public.")
)
TARGET_EXISTS = declare("TARGET_EXISTS", http=409)(
    _("The target path already exists."),
    _("Choose another path or move the existing files; nothing is overwritten."),
)
ADDITION_NOT_NEEDED = declare("ADDITION_NOT_NEEDED", lambda *, name, version: ...)(
    _(
        "Can't add %(name)s: the scripts of %(version)s don't seem to need it, or the "
        "package already declares it."
    ),
    _(
        "Choose an addition that the version's page lists, or declare what the scripts "
        "need in the package and publish a new version."
    ),
)
ADDITION_UNMAPPED = declare("ADDITION_UNMAPPED", lambda *, module: ...)(
    _("Can't add the module %(module)s: Skillquay doesn't know which library contains it."),
    _("Declare the library that contains the module in `requirements.txt`, then publish a new version."),
)
ADDITIONS_YANKED = declare("ADDITIONS_YANKED", lambda *, version: ..., http=409)(
    _("Can't add libraries, hosts or secrets to %(version)s: it is yanked."),
    _("Choose another version, or undo the yank first."),
)
ADDITIONS_NOT_CARRIED = declare(
    "ADDITIONS_NOT_CARRIED", lambda *, earlier, version, names, page: ..., severity="notice"
)(
    _(
        "The scripts of %(version)s need libraries, hosts or secrets that were added only to "
        "%(earlier)s: %(names)s."
    ),
    _("Ask a maintainer to add these items to %(version)s at %(page)s."),
)
