"""Error codes of match feedback."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

FEEDBACK_UTTERANCE_MISSING = declare("FEEDBACK_UTTERANCE_MISSING")(
    _("`utterance` is required when reporting a wrong match."),
    _("Send the utterance that should not match the skill."),
)
FEEDBACK_FULL = declare("FEEDBACK_FULL", lambda *, skill: ..., http=429)(
    _("%(skill)s has too many unreviewed trigger test proposals, from you or in total."),
    _("Ask the team's maintainers to accept or decline them on the feedback page."),
)
FEEDBACK_DECIDED = declare("FEEDBACK_DECIDED", lambda *, state: ..., http=409)(
    _("This proposal was already %(state)s."), _("No action needed; an accepted test can be removed.")
)
