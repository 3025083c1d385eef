"""How a version is asked to run: which entry, by which form, and the request that comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext

from portal.forms.arguments import ArgumentsForm
from portal.forms.file_field import Kept
from portal.forms.run import AskForm
from portal.forms.schema_fields import Schema
from portal.forms.schema_form import JsonInputsForm, SchemaForm, Store, defaults
from portal.showing.curl import run_line
from portal.showing.skill_use import Offer, example_of
from portal.showing.texts import json_text
from registry.models import Team
from registry.packages.problems import Problem
from worker.protocols.call import Request


@dataclass(frozen=True)
class Before:
    """What the forms begin with: nothing, or what an earlier run was asked."""

    request: Mapping[str, Any]
    team: Team | None = None

    @property
    def inputs(self) -> Mapping[str, Any] | None:
        inputs = self.request.get("inputs")
        return inputs if isinstance(inputs, Mapping) else None


class Asking:
    """The two forms of one page: what to run, and with which inputs."""

    def __init__(
        self,
        offer: Offer,
        before: Before,
        *,
        tool: str,
        as_json: bool,
        teams: QuerySet[Team],
        artifacts: Sequence[tuple[str, str]] = (),
        data: QueryDict | None = None,
        files: MultiValueDict[str, Any] | None = None,
    ) -> None:
        self.offer, self.before, self.tool, self.teams = offer, before, tool, teams
        bound = {"data": data, "files": files}
        self.ask = _ask_form(offer, before, tool, teams, bound)
        self.shape, self.inputs = _inputs_form(offer, before, tool, as_json, artifacts, bound)

    def is_valid(self) -> bool:
        """Both, so that every problem is shown at once."""
        return all([self.ask.is_valid(), self.inputs.is_valid()])

    @property
    def forms(self) -> tuple[Any, ...]:
        return (self.ask, self.inputs)

    @property
    def team(self) -> Team | None:
        if "team" in self.ask.fields:
            return self.ask.given("team")  # type: ignore[no-any-return]
        return None

    @property
    def shown_team(self) -> Team | None:
        """The one that stands in the form as it is shown, valid or not."""
        if "team" not in self.ask.fields:
            return None
        return next((team for team in self.teams if team.slug == self.ask["team"].value()), None)

    @property
    def fresh(self) -> bool:
        return bool(self.ask.given("fresh"))

    def request(self, store: Store) -> Request:
        return Request(
            inputs=self.inputs.inputs(store),
            script=self.ask.given("script"),
            action=self.ask.given("action"),
            tool=self.tool or None,
            stdin=_lines(self.ask.given("stdin")),
            debug=bool(self.ask.given("debug")),
        )

    def take(self, problems: Sequence[Problem]) -> None:
        """Puts the problems of a refused call where they belong."""
        for_entry = {"SCRIPT_NOT_FOUND": "script", "ENTRY_REQUIRED": "script"}
        for_entry |= {"UNKNOWN_ACTION": "action", "ACTION_REQUIRED": "action"}
        rest = []
        for problem in problems:
            field = for_entry.get(problem.code)
            if field in self.ask.fields:
                self.ask.add_error(field, problem.message(gettext))
            elif not problem.path:  # of no field: what is to be done is all that helps
                self.ask.add_error(None, f"{problem.message(gettext)} {problem.remedy(gettext)}")
            else:
                rest.append(problem)
        self.inputs.take(rest)

    def curl(self) -> str:
        """The same call for a shell, with what the forms now hold."""
        request = self.request(_name_alone) if self.inputs.is_bound and self.is_valid() else self._initial()
        document = {
            "skill": str(self.offer.version.skill),
            "version": self.offer.version.number,
            **{
                name: getattr(request, name)
                for name in ("script", "action", "tool")
                if getattr(request, name)
            },
            "inputs": dict(request.inputs),
            **({"stdin": request.stdin} if request.stdin else {}),
            **({"debug": True} if request.debug else {}),
        }
        return run_line(document)

    def _initial(self) -> Request:
        initial = {
            name: self.ask.get_initial_for_field(field, name) for name, field in self.ask.fields.items()
        }
        schema = schema_for(self.offer, self.tool)
        examples = {} if self.before.inputs is not None else example_of(schema)
        return Request(
            inputs=examples | dict(_initial_inputs(self.offer, self.before, self.tool)),
            script=initial.get("script") or None,
            action=initial.get("action") or None,
            tool=self.tool or None,
            stdin=initial.get("stdin") or None,
            debug=bool(initial.get("debug")),
        )


def schema_for(offer: Offer, tool: str) -> Schema | None:
    """The schema of the inputs: the tool's parameters where one is called, else the manifest's."""
    if tool:
        return next((one.schema for one in offer.menu.tools if one.name == tool), {})
    return offer.schema


def _ask_form(
    offer: Offer, before: Before, tool: str, teams: QuerySet[Team], bound: Mapping[str, Any]
) -> AskForm:
    found, asked = offer.menu, before.request
    scripts = [script.id for script in found.scripts] if len(found.scripts) > 1 and not tool else []
    actions = [action.name for action in found.actions] if not tool else []
    declared = [action.name for action in found.actions if action.declared]
    by_action = offer.protocol == "stdin_json"
    only = declared[0] if by_action and len(declared) == 1 else ""
    initial = {
        "script": asked.get("script") or found.default,
        "action": asked.get("action") or only,
        "stdin": asked.get("stdin") or "",
        "debug": bool(asked.get("debug")),
        "team": before.team.slug if before.team else _usual_team(offer, teams),
    }
    stdin = _speaks_arguments(offer, tool)
    return AskForm(
        scripts=scripts,
        actions=actions,
        declared=declared,
        needs_action=by_action and not only,
        teams=teams,
        stdin=stdin,
        cacheable=offer.manifest.cacheable,
        initial=initial,
        **bound,
    )


def _usual_team(offer: Offer, teams: QuerySet[Team]) -> str:
    slugs = [team.slug for team in teams]
    own = offer.version.skill.team.slug
    return own if own in slugs else slugs[0] if slugs else ""


def _speaks_arguments(offer: Offer, tool: str) -> bool:
    """Whether the inputs become a script's command line."""
    return not tool and offer.protocol == "script"


def _inputs_form(
    offer: Offer,
    before: Before,
    tool: str,
    as_json: bool,
    artifacts: Sequence[tuple[str, str]],
    bound: Mapping[str, Any],
) -> tuple[str, Any]:
    schema = schema_for(offer, tool)
    begins = _initial_inputs(offer, before, tool)
    if not as_json and schema and isinstance(schema.get("properties"), Mapping):
        form = SchemaForm(schema, inputs=before.inputs, artifacts=artifacts, **bound)
        if not form.left_over:
            return "schema", form
    if not as_json and not schema and _speaks_arguments(offer, tool):
        return "arguments", ArgumentsForm(inputs=begins, artifacts=artifacts, **bound)
    return "json", JsonInputsForm(initial={"inputs_json": json_text(dict(begins))}, **bound)


def _initial_inputs(offer: Offer, before: Before, tool: str) -> Mapping[str, Any]:
    if before.inputs is not None:
        return before.inputs
    schema = schema_for(offer, tool)
    return defaults(schema) if schema else {}


def _lines(text: str | None) -> str | None:
    return text.replace("\r\n", "\n") if text else None


def _name_alone(upload: Any) -> Kept:
    """For a line to copy: an upload is made by a call of its own first."""
    return Kept("UPLOADED_INPUT_ID", str(upload.name))
