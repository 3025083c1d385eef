from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

LOAD_NAME_MISSING = declare("LOAD_NAME_MISSING")(
    _("Missing name"),
    _("Send the ID or name of a skill that `skills_list` returned."),
)
LOAD_NOT_FOUND = declare("LOAD_NOT_FOUND", lambda *, name: ..., http=404)(
    _("Skill not found: %(name)s"),
    _("Send a name that `skills_list` returned, or team/skill for a skill of another team."),
)
