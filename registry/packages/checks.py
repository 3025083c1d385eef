"""What a package must be, one function a check; every problem at once, in the order of files and lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.packages import profiles
from registry.packages.conditions import unfit
from registry.packages.dependencies import read_dependencies
from registry.packages.endpoints import is_allowed
from registry.packages.frontmatter import SKILL_MD, FrontMatter
from registry.packages.package import Manifest, PackageFile, Profile
from registry.packages.paths import shown
from registry.packages.problems import Problem, gettext_noop, problem
from registry.packages.profiles import CODE, RUNNABLE, judged, single_scripts, suffix
from registry.packages.schemas import check_schema
from registry.packages.sections import SAFETY, SECTIONS, declared_scripts, find_sections
from registry.packages.tools import schema_of
from registry.packages.trigger_tests import read_trigger_tests

DESCRIPTION_CHARACTERS = 1024
_TOLD = 5  # patterns
_SCANNED = 256 * 1024  # bytes of a file, or of all phases and actions, that are looked at
_REQUIRED = {
    "name": gettext_noop("lower-case letters, digits and hyphens"),
    "description": gettext_noop("what the skill does and when to use it"),
    "version": gettext_noop("MAJOR.MINOR.PATCH"),
    "type": gettext_noop("one of direct, service, distributed, static, preprocessor, internal"),
    "capabilities": gettext_noop("a list of what the skill can do"),
    "tags": gettext_noop("a list of tags"),
    "triggers": gettext_noop("intents, phrases, event_types, priority"),
    "input_schema": gettext_noop("a JSON Schema"),
    "output_schema": gettext_noop("a JSON Schema"),
    "security": gettext_noop("timeout_ms, memory_mb, network, filesystem"),
    "resources": gettext_noop("entry, helpers, references, assets"),
}
_SPELLINGS = {"input_schema": "inputSchema", "output_schema": "outputSchema"}
_ABP_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_MAGIC = (b"\x7fELF", b"MZ\x90\0", b"#!", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm")


@dataclass(frozen=True)
class Facts:
    """What checks look at; ``found`` is what gate, front matter and manifest have noted already."""

    files: tuple[PackageFile, ...]
    front: FrontMatter
    manifest: Manifest
    found: tuple[Problem, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)

    def at(self, code: str, *place: str, **params: object) -> Problem:
        """A problem at the line of this field, else at the front matter's first line."""
        path, line = self.front.at(*place)
        return problem(code, path=path, line=line or 1, **params)


def choose_profile(facts: Facts) -> Profile:
    """The profile that this package is held to."""
    return profiles.choose_profile(facts.front.values, facts.files)


def check(facts: Facts, profile: Profile) -> tuple[Problem, ...]:
    """Everything that is wrong or worth knowing under this profile."""
    found = [*facts.found]
    for one in CHECKS:
        found.extend(one(facts, profile))
    ordered = sorted(found, key=lambda item: (item.path, item.line or 0, item.code))
    return tuple(judged(item, profile) for item in ordered)


def check_required(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Document C's required fields, under its own profile only."""
    for name, expected in _REQUIRED.items() if profile == "apexbridge" else ():
        values = facts.front.values
        if facts.front.unread & {name, _SPELLINGS.get(name, name)}:
            continue  # it is there, and what is wrong with it is said
        if values.get(name) is None and values.get(_SPELLINGS.get(name, name)) is None:
            if name in ("name", "description") and not getattr(facts.manifest, name):
                continue  # said already, as every profile needs them
            if name == "version" and facts.manifest.version:
                continue
            yield facts.at("FIELD_MISSING", name, field=name, expected=expected)


def check_description(facts: Facts, _: Profile) -> Iterator[Problem]:
    """At most 1,024 characters."""
    length = len(facts.manifest.description)
    if length > DESCRIPTION_CHARACTERS:
        yield facts.at("DESCRIPTION_TOO_LONG", "description", length=length, limit=DESCRIPTION_CHARACTERS)


def check_paths(facts: Facts, _: Profile) -> Iterator[Problem]:
    """A condition that no file fits would keep the skill from every agent."""
    for pattern in unfit(facts.manifest.paths)[:_TOLD]:
        yield facts.at("PATHS_NEVER_FIT", "paths", pattern=shown(pattern))


def check_scripts(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Something to run, under C's profile, unless the skill is static or run elsewhere."""
    if profile != "apexbridge" or facts.manifest.type == "static" or facts.manifest.endpoints:
        return
    if not any(path.startswith("scripts/") and suffix(path) in RUNNABLE for path in facts.paths):
        yield problem("SCRIPTS_MISSING", path="scripts/")


def check_endpoints(facts: Facts, _: Profile) -> Iterator[Problem]:
    """What a service is run by is a host that it lists."""
    security = facts.manifest.security
    hosts = security.network_allowlist if security.network == "allowlist" else ()
    for index, address in enumerate(facts.manifest.endpoints):
        if not is_allowed(address, hosts):
            place = (
                ("endpoint",) if facts.front.values.get("endpoint") == address else ("endpoints", str(index))
            )
            yield facts.at("ENDPOINT_UNLISTED", *place, address=shown(address))


def check_entry(facts: Facts, _: Profile) -> Iterator[Problem]:
    """The entry is a runnable file below scripts/."""
    entry = facts.manifest.resources.entry
    if entry is None:
        return
    place, label = ("resources", "entry"), shown(entry)
    if leads_out(entry):
        yield facts.at("ENTRY_UNSAFE", *place, entry=label)
    elif entry not in facts.paths:
        yield facts.at("RESOURCE_MISSING", *place, field="resources.entry", resource=label)
    elif not entry.startswith("scripts/"):
        yield facts.at("ENTRY_OUTSIDE_SCRIPTS", *place, entry=label)
    elif suffix(entry) not in RUNNABLE:
        yield facts.at("ENTRY_NOT_RUNNABLE", *place, entry=label)


def leads_out(path: str) -> bool:
    return path.startswith(("/", "../")) or path == ".." or bool(re.match(r"[A-Za-z]:", path))


def check_resources(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Helpers, references and assets are files or folders of the package."""
    folders = {path.rpartition("/")[0] for path in facts.paths}
    for name in ("helpers", "references", "assets"):
        for index, path in enumerate(getattr(facts.manifest.resources, name)):
            said = {"field": f"resources.{name}", "resource": shown(path)}
            if leads_out(path):
                yield facts.at("RESOURCE_UNSAFE", "resources", name, str(index), **said)
            elif path not in facts.paths and not any(f == path or f.startswith(path + "/") for f in folders):
                yield facts.at("RESOURCE_MISSING", "resources", name, str(index), **said)


def check_code(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Executable code lies in scripts/; tests may be code, and a single-file skill keeps B's layout."""
    kept = {file.path for file in single_scripts(facts.files)} if profile == "single-file" else set()
    for file in facts.files:
        if file.path.startswith(("scripts/", "tests/")) or file.path in kept or file.path == SKILL_MD:
            continue
        if suffix(file.path) in CODE or file.data.startswith(_MAGIC):
            yield problem("CODE_OUTSIDE_SCRIPTS", path=shown(file.path))


def check_schemas(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Both schemas are ones that can be used; inputs are named, so theirs describes an object."""
    for name in ("input_schema", "output_schema"):
        schema = getattr(facts.manifest, name)
        if schema is None:
            continue
        spelling = name if name in facts.front.values else _SPELLINGS[name]
        for found in check_schema(schema, where=spelling):
            place = [part.replace("~1", "/").replace("~0", "~") for part in found.path.split("/")[1:]]
            yield facts.at(found.code, spelling, *place, **found.params)
        kind = schema.get("type", "object")
        if name == "input_schema" and kind != "object" and not (isinstance(kind, list) and "object" in kind):
            yield facts.at("SCHEMA_NOT_OBJECT", spelling, "type", where=spelling)


def check_abp(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Tools with names of their own and typed parameters."""
    if facts.manifest.abp is None and facts.manifest.protocol != "abp":
        return
    tools = (facts.manifest.abp or {}).get("tools")
    if not isinstance(tools, list) or not tools:
        yield facts.at("ABP_TOOL", "abp", "tools", field="abp.tools", reason=gettext_noop("there is none"))
        return
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        label = f"abp.tools[{index}]"
        for reason in _tool_flaws(tool, seen):
            yield facts.at("ABP_TOOL", "abp", "tools", str(index), field=label, reason=reason)


def _tool_flaws(tool: object, seen: set[str]) -> Iterator[str]:
    name = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or not isinstance(name, str) or not name:
        yield "it has no name"
        return
    if name in seen:
        yield f"{shown(name)} stands there twice"
    seen.add(name)
    parameters = tool.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        yield "its parameters are not named"
        return
    flaws = [flaw for key, one in (parameters or {}).items() for flaw in _parameter_flaws(shown(key), one)]
    yield from flaws
    if not flaws and (found := check_schema(schema_of(parameters))):
        yield f"its parameters make no schema: {found[0].message()}"


def _parameter_flaws(key: str, parameter: object) -> Iterator[str]:
    if not isinstance(parameter, Mapping):
        yield f"parameter {key} is not a group of fields"
    elif parameter.get("type", "string") not in _ABP_TYPES:
        yield f"parameter {key} has no type among {', '.join(_ABP_TYPES)}"
    elif not isinstance(parameter.get("required", False), bool):
        yield f"required of parameter {key} is neither true nor false"


def check_single_file(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """One Python script, that the protocol of document B can start."""
    if profile != "single-file" or len(kept := single_scripts(facts.files)) == 1:
        return
    python = [file for file in facts.files if file.path.startswith("scripts/") and file.path.endswith(".py")]
    yield problem("SINGLE_FILE_SCRIPT", path="scripts/", count=len(kept or python))


def check_declared_scripts(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Each id that a phase or action declares is a script of the package (document A)."""
    ids = {p.removeprefix("scripts/").rpartition(".")[0] for p in facts.paths if p.startswith("scripts/")}
    left = _SCANNED
    for file in facts.files:
        if file.path.startswith(("phases/", "actions/")) and suffix(file.path) == "md":
            data, left = file.data[:left], max(0, left - len(file.data))
            for script, line in declared_scripts(data.decode("utf-8-sig", "replace")):
                if script not in ids and script.rpartition(".")[0] not in ids:
                    yield problem("SCRIPT_UNDECLARED", path=shown(file.path), line=line, script=script)


def check_sections(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """The sections that document C asks for; safety only where secrets, network or memory are used."""
    if profile != "apexbridge":
        return
    found = find_sections(facts.front.body)
    for section in SECTIONS:
        wanted = section.required and (section is not SAFETY or _is_sensitive(facts))
        if wanted and section.name not in found:
            yield problem(
                "SECTION_MISSING",
                path=SKILL_MD,
                line=facts.front.body_line,
                section=section.name,
                chinese=section.chinese,
            )


def _is_sensitive(facts: Facts) -> bool:
    security = facts.manifest.security
    if security.secrets or security.network != "none":
        return True
    scripts = (file for file in facts.files if file.path.startswith("scripts/"))
    return any(b"memoryWrites" in file.data[:_SCANNED] for file in scripts)


def check_trigger_tests(facts: Facts, _: Profile) -> Iterator[Problem]:
    """The package's own trigger tests can be read; whether they pass, publishing finds out."""
    yield from read_trigger_tests(facts.files).problems


def check_dependencies(facts: Facts, _: Profile) -> Iterator[Problem]:
    """What the scripts need is named so that an index can give it, and nothing else."""
    yield from read_dependencies(facts.files).problems


CHECKS = (
    check_required,
    check_description,
    check_paths,
    check_scripts,
    check_endpoints,
    check_entry,
    check_resources,
    check_code,
    check_schemas,
    check_abp,
    check_single_file,
    check_declared_scripts,
    check_sections,
    check_trigger_tests,
    check_dependencies,
)
