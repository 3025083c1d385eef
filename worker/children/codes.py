"""Why a skill cannot start another."""

from __future__ import annotations

from registry.packages.problems import Code, declare, gettext_noop

declare(
    Code(
        "CHILD_REQUEST_INVALID",
        gettext_noop("What was asked of the door is not a request: %(reason)s."),
        gettext_noop('Write one line of JSON: {"skill": "team/slug", "parameters": {}}.'),
    ),
    Code(
        "CHILD_NOT_REQUIRED",
        gettext_noop("The skill does not name %(name)s among what it requires."),
        gettext_noop("Name it in requires of the front matter, and publish that."),
        http=403,
    ),
    Code(
        "SKILL_INTERNAL",
        gettext_noop("The skill is internal: other skills and the API start it, no page does."),
        gettext_noop("Start a skill that requires it, or send it to POST /api/v1/runs."),
        http=409,
    ),
    Code(
        "CHILD_TOO_DEEP",
        gettext_noop("Skills start one another at most %(most)s deep."),
        gettext_noop("Have fewer skills between the first and the last."),
    ),
    Code(
        "CHILD_BUDGET_SPENT",
        gettext_noop("The first run of all has no %(what)s left for another run."),
        gettext_noop("Start fewer runs, or have them take less; they share what the first one has."),
    ),
    Code(
        "CHILD_CALLER_GONE",
        gettext_noop("Whoever started the run, or the token that did, may no longer start runs."),
        gettext_noop("Start it again as somebody who may."),
        http=403,
    ),
    Code(
        "CHILD_ANSWER_TOO_LARGE",
        gettext_noop("The answer of run %(run)s is larger than %(limit)s bytes."),
        gettext_noop("Have it leave a file in output_dir, and pass that on as an artifact."),
    ),
    Code(
        "CHILD_DOOR_SHUT",
        gettext_noop("The run has ended, so it starts no other."),
        gettext_noop("Wait for the answers before the script ends."),
    ),
)
