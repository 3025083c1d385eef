from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

CHILD_REQUEST_INVALID = declare("CHILD_REQUEST_INVALID", lambda *, reason: ...)(
    _("Invalid child run request: %(reason)s."),
    _('Send one line of JSON: {"skill": "team/skill", "parameters": {}}.'),
)
CHILD_NOT_REQUIRED = declare("CHILD_NOT_REQUIRED", lambda *, name: ..., http=403)(
    _("Can't start a child run: the skill does not list %(name)s in `requires`."),
    _("Ask the skill's maintainers to add %(name)s to `requires` in SKILL.md and publish a new version."),
)
SKILL_INTERNAL = declare("SKILL_INTERNAL", http=409)(
    _("This skill is internal: other skills and the API can start it, but it can't be started on a page."),
    _("Run a skill that requires this skill, or use POST /api/v1/runs."),
)
CHILD_TOO_DEEP = declare("CHILD_TOO_DEEP", lambda *, most: ...)(
    _("Can't start a child run: child runs can be nested at most %(most)s levels deep."),
    _("Ask the skills' maintainers to change the skills so that fewer of them start another skill."),
)
CHILD_BUDGET_EXCEEDED = declare("CHILD_BUDGET_EXCEEDED", lambda *, what: ...)(
    _("Can't start a child run: the root run's limit is used up (%(what)s)."),
    _(
        "Start fewer child runs, or let each take less time or write less output: all of them "
        "share the limits of the root run, which started the first child run."
    ),
)
CHILD_CALLER_GONE = declare("CHILD_CALLER_GONE", http=403)(
    _(
        "Can't start a child run: the caller's account is inactive, or the caller's token was revoked "
        "or has expired."
    ),
    _("Start the run again with an active account or token."),
)
CHILD_ANSWER_TOO_LARGE = declare("CHILD_ANSWER_TOO_LARGE", lambda *, run, limit: ...)(
    _("The result of run %(run)s is larger than %(limit)s bytes."),
    _("Write large results to a file in output_dir; the calling skill gets the file as an artifact."),
)
CHILD_RUNS_CLOSED = declare("CHILD_RUNS_CLOSED")(
    _("Can't start a child run: the parent run has ended."),
    _("Ask the skill's maintainers to change the script so that it waits for all child runs before it ends."),
)
