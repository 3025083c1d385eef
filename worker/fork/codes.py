"""The codes of agent loops: what keeps one from beginning, and how its model or its budget ends it."""

from __future__ import annotations

from registry.packages.problems import Code, declare
from registry.packages.problems import gettext_noop as _

declare(
    Code(
        "MODEL_UNSET",
        _("The skill asks for an agent loop of its own, and no model is named that could lead it."),
        _("An administrator names one in SKILLQUAY_MODEL_URL and SKILLQUAY_MODEL_NAME."),
        http=409,
    ),
    Code(
        "MODEL_REFUSED",
        _("The model's endpoint does not accept this site's key."),
        _("An administrator checks SKILLQUAY_MODEL_KEY."),
        http=502,
    ),
    Code(
        "MODEL_BUSY",
        _("The model's endpoint takes no more requests at present."),
        _("Run it again later; an administrator can have the endpoint's quota raised."),
        http=503,
        retryable=True,
    ),
    Code(
        "MODEL_FAILED",
        _("The model's endpoint has failed or cannot be reached."),
        _("Run it again later; an administrator checks SKILLQUAY_MODEL_URL."),
        http=502,
        retryable=True,
    ),
    Code(
        "MODEL_TIMEOUT",
        _("The model did not answer in time."),
        _("Run it again, ask for less at once, or have SKILLQUAY_MODEL_SECONDS raised."),
        http=504,
        retryable=True,
    ),
    Code(
        "MODEL_REJECTED",
        _("The model's endpoint does not take the request."),
        _("An administrator checks SKILLQUAY_MODEL_NAME, SKILLQUAY_MODELS and SKILLQUAY_MODEL_WIRE."),
        http=502,
    ),
    Code(
        "MODEL_UNUSABLE",
        _("What the model answered cannot be used."),
        _("Run it again; if it stays so, another model is needed."),
        http=502,
        retryable=True,
    ),
    Code(
        "TOKEN_BUDGET",
        _("The agent loop has used all tokens that it may."),
        _("Ask for less at once, or have SKILLQUAY_FORK_TOKENS raised."),
    ),
    Code(
        "TURN_BUDGET",
        _("The agent loop has taken all turns that it may."),
        _("Ask for less at once, or have SKILLQUAY_FORK_TURNS raised."),
    ),
    Code(
        "TOOL_LOOP",
        _("The agent loop called one tool in the same way again and again."),
        _("Run it again; if it stays so, the prompt or the model is at fault."),
    ),
)
