"""Error codes of models, prompts and the agent loop."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

MODEL_REFUSED = declare("MODEL_REFUSED", http=502)(
    _("The model endpoint rejected this site's key."), _("Ask an administrator to check SKILLQUAY_MODEL_KEY.")
)
MODEL_BUSY = declare("MODEL_BUSY", http=503, retryable=True)(
    _("The model endpoint accepts no more requests right now."),
    _("Run the skill again later, or ask an administrator to raise the model endpoint's quota."),
)
MODEL_FAILED = declare("MODEL_FAILED", http=502, retryable=True)(
    _("The model endpoint failed or can't be reached."),
    _("Run the skill again later, or ask an administrator to check SKILLQUAY_MODEL_URL."),
)
MODEL_TIMEOUT = declare("MODEL_TIMEOUT", http=504, retryable=True)(
    _("The model did not answer in time."),
    _("Run the skill again with a smaller task, or ask an administrator to raise SKILLQUAY_MODEL_SECONDS."),
)
MODEL_REJECTED = declare("MODEL_REJECTED", http=502)(
    _("The model endpoint rejected the request."),
    _("Ask an administrator to check SKILLQUAY_MODEL_NAME, SKILLQUAY_MODELS and SKILLQUAY_MODEL_PROTOCOL."),
)
MODEL_UNUSABLE = declare("MODEL_UNUSABLE", http=502, retryable=True)(
    _("The model's response is invalid or too large."),
    _("Run the skill again; if the error persists, ask an administrator to use another model."),
)
TOKEN_BUDGET = declare("TOKEN_BUDGET")(
    _("The agent loop has used up its token budget."),
    _("Run the skill again with a smaller task, or ask an administrator to raise SKILLQUAY_FORK_TOKENS."),
)
TURN_BUDGET = declare("TURN_BUDGET")(
    _("The agent loop has used up its turns."),
    _("Run the skill again with a smaller task, or ask an administrator to raise SKILLQUAY_FORK_TURNS."),
)
TOOL_LOOP = declare("TOOL_LOOP")(
    _("The model kept calling the same tool with the same arguments."),
    _(
        "Run the skill again; if the error persists, ask the skill's maintainers to change the "
        "prompt or the model."
    ),
)
COMMAND_FAILED = declare("COMMAND_FAILED")(
    _("A command in the prompt failed, so the prompt can't be built."),
    _("Read the command's output in the log, then report the error to the skill's maintainers."),
)
COMMANDS_TOO_MANY = declare("COMMANDS_TOO_MANY", lambda *, count, limit: ...)(
    _("The prompt contains %(count)s commands; at most %(limit)s are allowed."),
    _("Ask the skill's maintainers to combine the commands in a script."),
)
