"""The MCP tools: their descriptions for agents, and the functions that execute calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from registry.core.errors import NOT_FOUND
from registry.identity.actors import Actor
from registry.identity.errors import SIGN_IN_REQUIRED
from registry.identity.permissions import Action, require_scope
from registry.listing import load
from registry.matching.documents import match_document
from registry.matching.match import MatchQuery, match
from registry.packages.problems import Refusal
from registry.packages.schemas.validate import validate, with_defaults
from registry.rates.limits import RateLimit
from registry.versions.content.read_file import read_file
from worker.facades.mcp import tool_schemas as schemas
from worker.facades.mcp.kept_lists import keep_list
from worker.facades.mcp.runs import run_status, start_run
from worker.facades.mcp.skill_files import entries_of
from worker.memory import find
from worker.memory.documents import memory_document
from worker.memory.store import MemoryQuery, store

Document = dict[str, Any]
_READ = {"readOnlyHint": True, "openWorldHint": False}
_RUN = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}


@dataclass(frozen=True)
class McpTool:
    """A tool of MCP. A token's scopes must cover one of ``actions``. Each call counts against
    ``rate_limit``.
    """

    name: str
    title: str
    description: str
    call: Callable[[Mapping[str, Any], Actor], Document]
    arguments: Document
    result: Document
    actions: tuple[Action, ...]
    annotations: Mapping[str, bool]
    requires_sign_in: bool = False
    rate_limit: RateLimit | None = None

    def document(self) -> Document:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.arguments,
            "outputSchema": self.result,
            "annotations": {"title": self.title, **self.annotations},
        }

    def read_arguments(self, values: object, actor: Actor) -> Document:
        """The arguments with defaults. Raises Refusal if they are invalid, or if the actor may not call the
        tool.
        """
        if self.requires_sign_in and not actor.is_signed_in:
            raise SIGN_IN_REQUIRED.refusal()
        require_scope(actor, *self.actions)
        if problems := validate(self.arguments, values):
            raise Refusal(*problems)
        assert isinstance(values, dict)
        return with_defaults(self.arguments, values)


def list_skills(arguments: Mapping[str, Any], actor: Actor) -> Document:
    def find() -> Document:
        found = load.skills_list(actor, paths=arguments.get("paths", ()), limit=arguments["limit"])
        return load.loadable_document(found)

    is_usual = not arguments.get("paths") and arguments["limit"] == load.DEFAULT_LIMIT
    return keep_list("skills_list", actor, find) if is_usual else find()


def load_skill(arguments: Mapping[str, Any], actor: Actor) -> Document:
    """The skill's document. Each file has its digest and the URI of ``resources/read``, so that a host can
    verify the content.

    Raises NOT_FOUND if the file ``path`` does not exist or is not text, and the refusals of
    ``load.skills_load``.
    """
    loaded = load.skills_load(_label(arguments["name"].strip(), actor), actor)
    label = str(loaded.skill.resolved_canonical or loaded.skill)
    (entry,) = entries_of([(label, loaded.version)])
    document = load.loaded_document(loaded)
    facts = {file.path: {"digest": file.digest, "uri": entry.file_uri(file.path)} for file in loaded.files}
    document["files"] = [{**row, **facts[row["path"]]} for row in document["files"]]
    if path := arguments.get("path"):
        if not any(file.path == path and file.is_text for file in loaded.files):
            raise NOT_FOUND.refusal(what="file", name=path[:200]).at("path")
        document["content"] = read_file(loaded.version, path).decode()
    return document


def _label(name: str, actor: Actor) -> str:
    """The full name of the skill that ``name`` means; unchanged if it contains a slash.

    Kept in memory, because the look-up of a short name is slow. Raises the errors of ``find_loadable``.
    """

    def find() -> str:
        version = load.find_loadable(name, actor)
        return str(version.skill.resolved_canonical or version.skill)

    return name if "/" in name or not name else keep_list(f"name {name}", actor, find)


def match_skills(arguments: Mapping[str, Any], actor: Actor) -> Document:
    query = MatchQuery(arguments["utterance"], paths=tuple(arguments.get("paths", ())))
    return match_document(match(query, actor, limit=arguments["limit"]), actor)


def search_memory(arguments: Mapping[str, Any], actor: Actor) -> Document:
    owner = find.find_owner(arguments["owner"], actor) if arguments.get("owner") else None
    selection = MemoryQuery(actor, owner=owner, skill=arguments.get("skill", ""))
    found = store().search(arguments["query"], selection, limit=arguments["limit"])
    return {"memories": [memory_document(each) for each in found]}


TOOLS = {
    tool.name: tool
    for tool in (
        McpTool(
            "skills_list",
            "List skills",
            "Lists the skills that you may load: bundled ones first, then the most used. Use skills_match to "
            "find the skill for a request.",
            list_skills,
            schemas.LIST_ARGUMENTS,
            schemas.LIST_RESULT,
            (Action.SEE,),
            _READ,
        ),
        McpTool(
            "skills_load",
            "Load a skill",
            "Returns the instructions (SKILL.md) of a skill, its files and their digests. Follow the "
            "instructions. With path, returns another file of the skill.",
            load_skill,
            schemas.LOAD_ARGUMENTS,
            schemas.LOAD_RESULT,
            (Action.INSTALL,),
            _READ,
        ),
        McpTool(
            "skills_match",
            "Match skills to a request",
            "Ranks the skills that fit the user's request, with reasons and whether each can run.",
            match_skills,
            schemas.MATCH_ARGUMENTS,
            schemas.MATCH_RESULT,
            (Action.SEE,),
            _READ,
            rate_limit=RateLimit.MATCH,
        ),
        McpTool(
            "skills_run",
            "Run a skill",
            "Runs a skill's script on the server and waits up to 45 seconds. If the run has not ended, call "
            "run_status with its run_id. If it is waiting_approval, a person must approve it at "
            "approval.page_url: show the user this address. Never start the run again.",
            start_run,
            schemas.RUN_ARGUMENTS,
            schemas.RUN_RESULT,
            (Action.RUN,),
            _RUN,
            requires_sign_in=True,
            rate_limit=RateLimit.RUN,
        ),
        McpTool(
            "run_status",
            "Get a run",
            "Returns the status of a run and, when it has ended, its result. With wait, waits for the end or "
            "for the approval.",
            run_status,
            schemas.STATUS_ARGUMENTS,
            schemas.RUN_RESULT,
            (Action.READ_RUNS, Action.RUN),
            _READ,
            requires_sign_in=True,
        ),
        McpTool(
            "memory_search",
            "Search memories",
            "Searches the memories of the user and the user's teams, best matches first.",
            search_memory,
            schemas.MEMORY_ARGUMENTS,
            schemas.MEMORY_RESULT,
            (Action.READ_RUNS,),
            _READ,
            requires_sign_in=True,
        ),
    )
}


def refusal_document(refused: Refusal) -> Document:
    """The refusal as a document for the agent: code, message and remedy."""
    problems = [problem.document(gettext) for problem in refused.problems]
    first = problems[0]
    return {
        **{key: first[key] for key in ("code", "message", "remedy")},
        "problems": problems,
    }
