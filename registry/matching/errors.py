"""Error codes of match feedback."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

FEEDBACK_UTTERANCE_MISSING = declare("FEEDBACK_UTTERANCE_MISSING")(
    _("Can't report a wrong match: `utterance` is missing."),
    _("In `utterance`, send the text of the request that should not match the skill."),
)
FEEDBACK_FULL = declare("FEEDBACK_FULL", lambda *, skill: ..., http=429)(
    _("Too many proposed trigger tests for %(skill)s are waiting for review."),
    _("Ask the team's maintainers to accept or decline the proposed tests on the feedback page."),
)
FEEDBACK_DECIDED = declare("FEEDBACK_DECIDED", lambda *, state: ..., http=409)(
    _("This proposal was already decided (%(state)s)."),
    _("No action needed. If the proposal was accepted, you can remove the trigger test."),
)
