from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

ERROR_GROUP_VERSION_INVALID = declare("ERROR_GROUP_VERSION_INVALID", lambda *, version: ...)(
    _("`%(version)s` is not a version number."),
    _("Name the version that fixes the error, such as 1.4.0; it need not be published yet."),
)
ERROR_GROUP_ASSIGNEE_INVALID = declare("ERROR_GROUP_ASSIGNEE_INVALID", lambda *, user, team: ...)(
    _("Can't assign the error group: %(user)s is not a member of %(team)s."),
    _("Choose a member of the skill's team."),
)
