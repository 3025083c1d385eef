from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

TRIGGER_TESTS_NONE = declare("TRIGGER_TESTS_NONE", lambda *, skill: ..., http=409)(
    _("%(skill)s has no trigger tests to run."),
    _("Add a trigger test on the feedback page, or include tests/triggers.yaml in the package."),
)
PHRASE_UNUSABLE = declare("PHRASE_UNUSABLE", lambda *, phrase, most: ..., severity="warning")(
    _(
        "Search can't match the phrase “%(phrase)s” as a whole: it has no words, more than "
        "%(most)s words or too many characters."
    ),
    _("Write a short phrase that a user would say; each Chinese character counts as a word."),
)
MODEL_DISABLED = declare("MODEL_DISABLED", http=409)(
    _("Can't propose phrases: no model is configured."),
    _("Ask an administrator to set SKILLQUAY_MODEL_URL and SKILLQUAY_MODEL_NAME."),
)
MODEL_ANSWER_INVALID = declare("MODEL_ANSWER_INVALID", lambda *, reason: ..., http=502, retryable=True)(
    _("The model returned an unusable response: %(reason)s."),
    _("Try again; if the error persists, ask an administrator to check the settings of the model."),
)
TRIGGER_NOT_MET = declare("TRIGGER_NOT_MET", lambda *, utterance, most, first: ..., severity="warning")(
    _(
        "“%(utterance)s” must match this skill, but the skill is not among the "
        "first %(most)s search results; the first one is %(first)s."
    ),
    _("Add this request to the trigger phrases, or use its words in the description."),
)
TRIGGER_NOTHING_FOUND = declare("TRIGGER_NOTHING_FOUND", lambda *, utterance: ..., severity="warning")(
    _("“%(utterance)s” must match this skill, but the search finds no skill."),
    _("Add this request to the trigger phrases, or use its words in the description."),
)
TRIGGER_UNWANTED = declare("TRIGGER_UNWANTED", lambda *, utterance: ..., severity="warning")(
    _("“%(utterance)s” must not match this skill, but the skill is the first result."),
    _(
        "In the description, state when not to use the skill, or remove the words of the "
        "quoted request from the trigger phrases and tags."
    ),
)
TRIGGER_TESTS_PASSED = declare("TRIGGER_TESTS_PASSED", lambda *, count: ..., severity="notice")(
    _("All trigger tests passed: %(count)s."), _("No action needed.")
)
