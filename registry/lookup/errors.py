from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CANONICAL_UNAVAILABLE = declare("CANONICAL_UNAVAILABLE", lambda *, name, reason: ..., http=409)(
    _("%(name)s is unavailable: %(reason)s."),
    _(
        "Request another skill as team/skill, or ask an administrator to point "
        "this canonical name to another version."
    ),
)
NAME_AMBIGUOUS = declare("NAME_AMBIGUOUS", lambda *, name, candidates: ..., http=409)(
    _("%(name)s is ambiguous without a team; candidates: %(candidates)s."),
    _("Include the team, as in team/skill."),
)
VERSION_HELD = declare("VERSION_HELD", lambda *, version: ..., http=409)(
    _("%(version)s can't be used: it is held for review because of a scan finding or a report."),
    _("Ask a maintainer other than the publisher to review and release the version."),
)
PURGED = declare("PURGED", lambda *, name, reason: ..., http=410)(
    _("%(name)s was purged: %(reason)s"),
    _("Use another version or skill."),
)
NO_LATEST = declare("NO_LATEST", lambda *, skill: ..., http=404)(
    _("%(skill)s has no usable version: all versions are yanked, held or purged."),
    _("Request a yanked version by its exact number, or contact the skill's team."),
)
VERSION_YANKED = declare("VERSION_YANKED", lambda *, version, reason: ..., severity="warning")(
    _("%(version)s was yanked: %(reason)s"),
    _("Use another version if one exists."),
)
VERSION_REPORTED = declare("VERSION_REPORTED", lambda *, version: ..., severity="warning")(
    _(
        "%(version)s was reported as harmful; other teams may not find it in "
        "search until the report is decided."
    ),
    _("Check the version's content before you use it."),
)
VERSION_DEPRECATED = declare(
    "VERSION_DEPRECATED", lambda *, version, reason, successor: ..., severity="warning"
)(_("%(version)s is deprecated: %(reason)s"), _("Use %(successor)s instead."))
SKILL_DEPRECATED = declare("SKILL_DEPRECATED", lambda *, skill, reason, successor: ..., severity="warning")(
    _("%(skill)s is deprecated: %(reason)s"), _("Use %(successor)s instead.")
)
CHANNEL_WITHDRAWN = declare("CHANNEL_WITHDRAWN", lambda *, channel, version, reason: ..., http=409)(
    _("Can't use the channel %(channel)s: its version %(version)s was yanked: %(reason)s"),
    _("Choose a version that is not yanked, or ask a maintainer to point the channel to another version."),
)
