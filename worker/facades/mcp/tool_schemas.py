"""The JSON schemas of the tools' arguments and results. Results may have further fields."""

from __future__ import annotations

from typing import Any

from registry.listing.load import DEFAULT_LIMIT
from registry.listing.selection import MAX_PLACES

MAX_WAIT_S = 45  # hosts give up on a tool after a minute
_TEXT: dict[str, Any] = {"type": "string"}
_TEXT_OR_NULL: dict[str, Any] = {"type": ["string", "null"]}
_OBJECT: dict[str, Any] = {"type": "object"}
_PATHS = {
    "type": "array",
    "items": {"type": "string", "maxLength": 1000},
    "maxItems": 1000,
    "description": "Paths of the files that you work on, relative to the project, such as src/a.py.",
}
_WAIT = {
    "type": "integer",
    "minimum": 0,
    "maximum": MAX_WAIT_S,
    "default": MAX_WAIT_S,
    "description": "Seconds to wait for the end of the run.",
}


def _arguments(*required: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _result(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list_of(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _result(**properties)}


def _about(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": text, **more}


LIST_ARGUMENTS = _arguments(
    paths=_PATHS,
    limit={"type": "integer", "minimum": 1, "maximum": MAX_PLACES, "default": DEFAULT_LIMIT},
)
LIST_RESULT = _result(
    skills=_list_of(id=_TEXT, name=_TEXT, description=_TEXT, allowedTools={"type": "array", "items": _TEXT}),
    remaining={"type": "integer", "description": "Number of further skills; raise limit to get them."},
)
LOAD_ARGUMENTS = _arguments(
    "name",
    name=_about("The id or name of the skill.", minLength=1, maxLength=300),
    path=_about("A file of the skill to read instead of SKILL.md.", minLength=1, maxLength=500),
)
LOAD_RESULT = _result(
    id=_TEXT,
    name=_TEXT,
    version=_TEXT,
    digest=_about("SHA-256 of the skill's archive."),
    description=_TEXT,
    content=_about("The text of SKILL.md or of the file at path."),
    files=_list_of(path=_TEXT, size={"type": "integer"}, digest=_TEXT, uri=_TEXT, url=_TEXT),
    notices={"type": "array", "items": _OBJECT},
)
MATCH_ARGUMENTS = _arguments(
    "utterance",
    utterance=_about("The user's request in the user's words.", maxLength=200_000),
    paths=_PATHS,
    limit={"type": "integer", "minimum": 1, "maximum": 100, "default": 5},
)
MATCH_RESULT = _result(
    none={"type": "boolean", "description": "True if no skill is likely enough to be the right one."},
    results=_list_of(
        skill=_about("The id by which to load or run the skill."),
        version=_TEXT_OR_NULL,
        score={"type": "number"},
        name=_TEXT,
        description=_TEXT,
        can=_OBJECT,
        needs=_OBJECT,
    ),
)
RUN_ARGUMENTS = _arguments(
    "skill",
    skill=_about("The id of the skill: team/slug, optionally followed by @version.", maxLength=200),
    inputs={**_OBJECT, "description": "The inputs by name."},
    arguments={"type": "array", "description": "The script's command line, before the inputs."},
    script=_about("The script to run if the skill has several.", maxLength=500),
    action=_about("The action to run if the skill has several.", maxLength=200),
    tool=_about("The tool to run if the skill has several.", maxLength=200),
    stdin=_about("Text for the script's standard input.", maxLength=1_000_000),
    team=_about("The team to run as; default: your own.", maxLength=64),
    idempotency_key=_about(
        "A new UUID for each run that you want. A repeated call with the same key returns the same run.",
        pattern="^[!-~]{1,150}$",
    ),
    wait=_WAIT,
)
STATUS_ARGUMENTS = _arguments(
    "run_id",
    run_id=_about("The run_id of skills_run.", maxLength=26),
    wait={**_WAIT, "default": 0, "description": "Seconds to wait for the end of the run or the approval."},
)
RUN_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "run_id": _TEXT,
        "status": _about("queued, running, waiting_approval, succeeded, failed, timed_out, cancelled, …"),
        "skill": _TEXT,
        "version": _TEXT,
        "digest": _TEXT,
        "failure_code": _about("Why the run failed; empty if it did not."),
        "message": _TEXT,
        "remedy": _TEXT,
        "outputs": {"description": "The outputs by name."},
        "output": {"description": "The whole output if it has no names."},
        "artifacts": _list_of(path=_TEXT, size={"type": "integer"}, url=_TEXT),
        "progress": {"type": ["integer", "null"], "description": "Percent."},
        "approval": {
            "type": ["object", "null"],
            "properties": {"state": _TEXT, "page_url": _TEXT, "expires_at": _TEXT_OR_NULL},
            "description": "The approval that the run needs. A person decides at page_url.",
        },
        "page_url": _about("The page of the run."),
        "next": _about("What to do next."),
    },
    "required": ["run_id", "status", "page_url", "next"],
}
MEMORY_ARGUMENTS = _arguments(
    "query",
    query=_about("Words to search for.", minLength=1, maxLength=500),
    owner=_about("me, a team's slug, or run: followed by a run's id; default: all.", maxLength=80),
    skill=_about("Only memories that this skill proposed, as team/slug.", maxLength=130),
    limit={"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
)
MEMORY_RESULT = _result(
    memories=_list_of(
        id=_TEXT, content=_TEXT, type=_TEXT, importance={"type": "integer"}, updated_at=_TEXT, page_url=_TEXT
    )
)
