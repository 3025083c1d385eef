"""The run form, which chooses the entry point, reads the inputs and builds the run request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.forms.boundfield import BoundField
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext

from portal.pages.runs.forms.argument_line import ArgumentFilesField, argument_line, join_files
from portal.pages.runs.forms.arguments import ArgumentsForm
from portal.pages.runs.forms.command_line_form import CommandLineForm
from portal.pages.runs.forms.file_field import FileInputField, StoredFile
from portal.pages.runs.forms.run import RunOptionsForm
from portal.pages.runs.forms.schema_form import JsonInputsForm, SchemaForm, Store, defaults
from portal.pages.runs.forms.text_fields import Schema
from portal.pages.runs.presenters.sample_calls import SampleCall
from portal.presenters.content.punctuation import sentences
from portal.presenters.content.text import json_text
from portal.presenters.skill.curl import run_line
from portal.presenters.skill.runnable_version import RunnableVersion, example_of
from registry.models import EntryCommandLine, Team
from registry.packages.command_lines import (
    ArgumentValues,
    build_arguments,
    example_values,
    read_arguments,
)
from registry.packages.problems import Problem
from worker.protocols.call import Request
from worker.protocols.errors import ACTION_REQUIRED, ENTRY_REQUIRED, SCRIPT_NOT_FOUND, UNKNOWN_ACTION

_UPLOAD = {"input": "UPLOADED_INPUT_ID"}


@dataclass(frozen=True)
class Prefill:
    """Initial values of the form: a run request, from an earlier run or the URL, and a team.

    ``sample`` is the index of an example call in the package's documents. ``files`` are the stored files of
    the request, by uid.
    """

    request: Mapping[str, Any]
    team: Team | None = None
    sample: int | None = None
    files: Mapping[str, StoredFile] = field(default_factory=dict)

    @property
    def inputs(self) -> Mapping[str, Any] | None:
        inputs = self.request.get("inputs")
        return inputs if isinstance(inputs, Mapping) else None


class RunForm:
    """Two Django forms: ``options`` chooses the entry point and team, ``inputs`` has a field per input.

    ``input_format`` names the kind of ``inputs``: "schema", "fields", "arguments" or "json". ``shown_format``
    is the requested one: "json", "line" for an argument line, or "". ``calls`` are the samples to choose
    from, and ``call`` is the one that fills in the form. ``artifacts`` are the suggestions for files.
    """

    def __init__(
        self,
        runnable: RunnableVersion,
        prefill: Prefill,
        *,
        tool: str,
        shown_format: str,
        teams: QuerySet[Team],
        artifacts: Sequence[tuple[str, str]] = (),
        data: QueryDict | None = None,
        files: MultiValueDict[str, Any] | None = None,
        calls: Sequence[SampleCall] = (),
        call: SampleCall | None = None,
    ) -> None:
        self.calls, self.call, self.artifacts = calls, call, artifacts
        self.runnable, self.prefill, self.tool, self.teams = runnable, prefill, tool, teams
        bound = {"data": data, "files": files}
        self._stored_request: Request | None = None
        self.shown_format = shown_format
        self.command_line = self._command_line(data)
        self.arguments = self._prefilled_arguments()
        self.input_format, self.inputs = self._inputs_form(bound)
        self.options = self._options_form(bound)
        for each in self.inputs.fields.values():
            if isinstance(each, FileInputField):
                each.widget.known = prefill.files

    def is_valid(self) -> bool:
        """Whether both forms are valid. Always validates both, so that all problems are shown at once."""
        return all([self.options.is_valid(), self.inputs.is_valid()])

    @property
    def forms(self) -> tuple[Any, ...]:
        return (self.options, self.inputs)

    @property
    def schema(self) -> Schema | None:
        """The schema of the inputs: the tool's parameters if ``tool`` is set, otherwise the manifest's."""
        if self.tool:
            tools = self.runnable.entry_points.tools
            return next((each.schema for each in tools if each.name == self.tool), {})
        return self.runnable.schema

    @property
    def team(self) -> Team | None:
        if "team" in self.options.fields:
            return self.options.value("team")  # type: ignore[no-any-return]
        return None

    @property
    def selected_team(self) -> Team | None:
        """The selected team, even if the form is invalid; None if the form has no team field."""
        if "team" not in self.options.fields:
            return None
        return next((team for team in self.teams if team.slug == self.options["team"].value()), None)

    @property
    def has_advanced(self) -> bool:
        """Whether an advanced option is set or has an error, so that the advanced options must be open."""
        usual = {"team": self._default_team()}
        return getattr(self.inputs, "has_advanced", False) or any(
            field.errors or (field.value() or "") != usual.get(field.name, "")
            for field in self.advanced_options
        )

    @property
    def offers_fields(self) -> bool:
        """Whether fields are available for the script, even if the form shows an argument line or JSON
        instead.
        """
        return self.command_line is not None and self.command_line.command_line.kind != "line"

    @property
    def can_choose_script(self) -> bool:
        """Whether there are several scripts and at least one has fields."""
        return "script" in self.options.fields and any(
            row.command_line.kind == "fields" for row in self.runnable.version.command_lines.all()
        )

    @property
    def samples(self) -> list[str]:
        """The argument lines of the example calls in the package's documents."""
        return [argument_line(words) for words in self.command_line.samples] if self.command_line else []

    @property
    def usage(self) -> str:
        return self.command_line.command_line.usage if self.command_line else ""

    @property
    def main_options(self) -> list[BoundField]:
        """The options above the inputs; for a skill with a schema, the arguments are advanced options."""
        names = {"script", "action"}
        if self.input_format not in ("schema", "fields"):
            names |= {"arguments", "argument_files"}
        return [field for field in self.options if field.name in names]

    @property
    def advanced_options(self) -> list[BoundField]:
        main = {field.name for field in self.main_options}
        return [field for field in self.options if field.name not in main]

    @property
    def takes_files(self) -> bool:
        fields = (*self.options.fields.values(), *self.inputs.fields.values())
        return any(isinstance(each, FileInputField | ArgumentFilesField) for each in fields)

    @property
    def no_cache(self) -> bool:
        return bool(self.options.value("no_cache"))

    def request(self, store: Store) -> Request:
        arguments = self.inputs.arguments(store) if isinstance(self.inputs, CommandLineForm) else []
        further = self.options.value("arguments") or []
        return Request(
            inputs=self.inputs.inputs(store),
            arguments=[*arguments, *join_files(further, self.options.value("argument_files") or [], store)],
            script=self.options.value("script"),
            action=self.options.value("action"),
            tool=self.tool or None,
            stdin=_unix_newlines(self.options.value("stdin")),
            debug=bool(self.options.value("debug")),
        )

    def clear_errors(self, store: Store | None = None) -> None:
        """Shows the submitted values without errors, for a form that is not complete yet.

        Calls ``store`` for each valid upload, because a browser can't resend uploads.
        """
        self.is_valid()
        if store:
            self.keep_uploads(store)
        for form in self.forms:
            form.errors.clear()

    def keep_uploads(self, store: Store) -> None:
        """Stores the valid uploads of forms that were validated. The forms then show the stored files, and
        ``request`` uses them.
        """
        self.inputs.keep_uploads(store)
        uploads = self.options.value("argument_files")
        if uploads and "arguments" not in self.options.errors:
            words = join_files(self.options.value("arguments") or [], uploads, store)
            self.options.cleaned_data |= {"arguments": words, "argument_files": []}
            self.options.data = MultiValueDict(
                {**dict(self.options.data), "arguments": [argument_line(words)]}
            )

    def show_request(self, store: Store) -> None:
        """Stores the uploads if the form is valid, so that ``curl`` shows the complete call."""
        if self.is_valid():
            self._stored_request = self.request(store)

    def add_problems(self, problems: Sequence[Problem]) -> None:
        """Adds the problems of a refused request to the fields that they concern."""
        fields = {SCRIPT_NOT_FOUND.name: "script", ENTRY_REQUIRED.name: "script"}
        fields |= {UNKNOWN_ACTION.name: "action", ACTION_REQUIRED.name: "action"}
        rest = []
        for problem in problems:
            field = fields.get(problem.code)
            if not field and problem.path.partition("/")[0] == "arguments":
                field = "arguments" if self.input_format != "fields" else None
            if field in self.options.fields:
                error = forms.ValidationError(problem.message(gettext), code=problem.code)
                self.options.add_error(field, error)
            elif not problem.path:  # shown above the form, with the remedy
                text = sentences((problem.message(gettext), problem.remedy(gettext)))
                self.options.add_error(None, forms.ValidationError(text, code=problem.code))
            else:
                rest.append(problem)
        self.inputs.add_problems(rest)

    def curl(self) -> str:
        """The curl command for the submitted values; for the initial values if the form is unbound or
        invalid.
        """
        is_usable = self.inputs.is_bound and self.is_valid()
        request = self._stored_request or (
            self.request(_upload_placeholder) if is_usable else self._initial_request()
        )
        document = {
            "skill": str(self.runnable.version.skill),
            "version": self.runnable.version.number,
            **{
                name: getattr(request, name)
                for name in ("script", "action", "tool")
                if getattr(request, name)
            },
            **({"arguments": list(request.arguments)} if request.arguments else {}),
            "inputs": dict(request.inputs),
            **({"stdin": request.stdin} if request.stdin else {}),
            **({"debug": True} if request.debug else {}),
        }
        return run_line(document)

    def _initial_request(self) -> Request:
        initial = {
            name: self.options.get_initial_for_field(field, name)
            for name, field in self.options.fields.items()
        }
        examples = {} if self.prefill.inputs is not None else example_of(self.schema)
        return Request(
            inputs=examples | dict(self._initial_inputs()),
            arguments=self._initial_arguments(),
            script=initial.get("script") or None,
            action=initial.get("action") or None,
            tool=self.tool or None,
            stdin=initial.get("stdin") or None,
            debug=bool(initial.get("debug")),
        )

    def _initial_arguments(self) -> list[Any]:
        """The prefilled arguments, otherwise an example with the required arguments."""
        form = self.inputs
        if self.arguments or not isinstance(form, CommandLineForm):
            return self.arguments
        values = example_values(form.command_line, form.commands, file=_UPLOAD)
        return build_arguments(form.command_line, values, form.commands)

    def _initial_inputs(self) -> Mapping[str, Any]:
        if self.prefill.inputs is not None:
            return self.prefill.inputs
        return defaults(self.schema) if self.schema else {}

    def _command_line(self, data: QueryDict | None) -> EntryCommandLine | None:
        """The command line of the chosen script; None if no script is chosen or if the inputs have a
        schema.
        """
        if not self._takes_arguments or self.schema:
            return None
        rows = {row.script: row for row in self.runnable.version.command_lines.all()}
        chosen = data.get("script") if data is not None else self.prefill.request.get("script")
        chosen = chosen or self.runnable.entry_points.default
        return rows.get(chosen) or (next(iter(rows.values())) if len(rows) == 1 and not chosen else None)

    def _prefilled_arguments(self) -> list[Any]:
        """The arguments of the earlier run or of the requested sample; an argument line defaults to the first
        sample.
        """
        samples = self.command_line.samples if self.command_line else []
        if self.prefill.sample is not None and self.prefill.sample < len(samples):
            return list(samples[self.prefill.sample])
        given = self.prefill.request.get("arguments")
        if given is None and samples and not self.offers_fields:
            return list(samples[0])
        return given if isinstance(given, list) else []

    @property
    def _takes_arguments(self) -> bool:
        return not self.tool and self.runnable.protocol == "script"

    def _options_form(self, bound: Mapping[str, Any]) -> RunOptionsForm:
        entry_points, request = self.runnable.entry_points, self.prefill.request
        scripts = [script.id for script in entry_points.scripts] if not self.tool else []
        actions = [action.name for action in entry_points.actions] if not self.tool else []
        declared = [action.name for action in entry_points.actions if action.declared]
        uses_actions = self.runnable.protocol == "stdin_json"
        only_action = declared[0] if uses_actions and len(declared) == 1 else ""
        team = self.prefill.team
        return RunOptionsForm(
            scripts=scripts if len(scripts) > 1 else [],
            actions=actions,
            declared=declared,
            needs_action=uses_actions and not only_action,
            teams=self.teams,
            takes_arguments=self._takes_arguments,
            cacheable=self.runnable.manifest.cacheable,
            initial={
                "script": request.get("script") or entry_points.default,
                "action": request.get("action") or only_action,
                "arguments": argument_line(self.arguments if self.input_format != "fields" else []),
                "stdin": request.get("stdin") or "",
                "debug": bool(request.get("debug")),
                "team": team.slug if team else self._default_team(),
            },
            **bound,
        )

    def _default_team(self) -> str:
        """The slug of the skill's own team if the user can choose it, otherwise of the first team, or ""."""
        slugs = [team.slug for team in self.teams]
        own = self.runnable.version.skill.team.slug
        return own if own in slugs else slugs[0] if slugs else ""

    def _inputs_form(self, bound: Mapping[str, Any]) -> tuple[str, Any]:
        schema, initial, as_json = self.schema, self._initial_inputs(), self.shown_format == "json"
        if (
            not self.shown_format
            and self.command_line
            and self.offers_fields
            and (shown := self._shown_values()) is not None
        ):
            line = self.command_line.command_line
            return "fields", CommandLineForm(line, shown=shown, **bound)
        if not as_json and schema and isinstance(schema.get("properties"), Mapping):
            form = SchemaForm(schema, inputs=self.prefill.inputs, **bound)
            if not form.unmapped:
                return "schema", form
        if not as_json and not schema and self._takes_arguments:
            return "arguments", ArgumentsForm(inputs=initial, **bound)
        return "json", JsonInputsForm(initial={"inputs_json": json_text(dict(initial))}, **bound)

    def _shown_values(self) -> ArgumentValues | None:
        """The values to show in fields; None if the prefilled request has arguments without a field."""
        if self.prefill.inputs or self.command_line is None:
            return None
        return read_arguments(self.command_line.command_line, self.arguments)


def _unix_newlines(text: str | None) -> str | None:
    return text.replace("\r\n", "\n") if text else None


def _upload_placeholder(upload: Any) -> StoredFile:
    """A placeholder in the curl command, because a file needs a separate request to upload it."""
    return StoredFile("UPLOADED_INPUT_ID", str(upload.name))
