"""The checks of a package, one function each. ``check`` runs them all."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice

from registry.packages.archive.paths import printable
from registry.packages.checks import errors, profiles
from registry.packages.checks.cases import read_cases
from registry.packages.checks.profiles import CODE, RUNNABLE, apply_profile, single_scripts, suffix
from registry.packages.checks.trigger_tests import read_trigger_tests
from registry.packages.dependencies.read import read_dependencies
from registry.packages.errors import ENTRY_UNSAFE, SCHEMA_REFERENCE
from registry.packages.manifest.endpoints import is_allowed
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter
from registry.packages.manifest.sections import (
    SAFETY,
    SECTIONS,
    find_phases,
    find_sections,
    is_phase,
)
from registry.packages.manifest.tools import schema_of
from registry.packages.package import Manifest, PackageFile, Profile
from registry.packages.path_conditions import unmatchable_patterns
from registry.packages.problems import LazyMessage, Problem, gettext_noop
from registry.packages.schemas.validate import check_schema

MAX_DESCRIPTION_LENGTH = 1024
_MAX_PER_CODE = 100  # problems with the same code per package
_MAX_PATTERNS_REPORTED = 5  # patterns per package
_MAX_SCANNED = 256 * 1024  # bytes read per file, and in total from phases and actions
_REQUIRED = {
    "name": gettext_noop("lowercase letters, digits and hyphens"),
    "description": gettext_noop("what the skill does and when to use it"),
    "version": gettext_noop("MAJOR.MINOR.PATCH"),
    "type": gettext_noop("one of direct, service, distributed, static, preprocessor, internal"),
    "capabilities": gettext_noop("a list of short names for what the skill can do, such as query_weather"),
    "tags": gettext_noop("a list of tags"),
    "triggers": gettext_noop("fields such as intents, phrases, event_types and priority"),
    "input_schema": gettext_noop("a JSON Schema"),
    "output_schema": gettext_noop("a JSON Schema"),
    "security": gettext_noop("fields such as timeout_ms, memory_mb, network and filesystem"),
    "resources": gettext_noop("fields such as entry, helpers, references and assets"),
}
_SPELLINGS = {"input_schema": "inputSchema", "output_schema": "outputSchema"}
_ABP_TYPES = ("string", "number", "integer", "boolean", "array", "object")
_MAGIC = (b"\x7fELF", b"MZ\x90\0", b"#!", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm")


@dataclass(frozen=True)
class Facts:
    """The input of a check. ``problems`` were found while reading the archive, front matter and manifest."""

    files: tuple[PackageFile, ...]
    front: FrontMatter
    manifest: Manifest
    problems: tuple[Problem, ...] = ()

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)

    def at(self, problem: Problem, *key_path: str) -> Problem:
        """The problem at the file and line of this field, or at line 1 if its line is unknown."""
        path, line = self.front.at(*key_path)
        return problem.at(path, line or 1)


def choose_profile(facts: Facts) -> Profile:
    return profiles.choose_profile(facts.front.values, facts.files).profile


def check(facts: Facts, profile: Profile) -> tuple[Problem, ...]:
    """The problems with their severity under this profile, sorted by path, line and code.

    Includes notices and the problems in ``facts``. At most 100 problems of each code are returned; a notice
    at the start names each code that has more.
    """
    problems = [*facts.problems]
    for one in CHECKS:
        problems.extend(islice(one(facts, profile), _MAX_PER_CODE + 1 if one in _OF_ONE_CODE else None))
    ordered = sorted(problems, key=lambda item: (item.path, item.line or 0, item.code))
    return tuple(apply_profile(item, profile) for item in _first_of_each_code(ordered))


def _first_of_each_code(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yields at most ``_MAX_PER_CODE`` problems of each code, after a notice for each code that has more."""
    counts: Counter[str] = Counter()
    kept = []
    for problem in problems:
        counts[problem.code] += 1
        if counts[problem.code] <= _MAX_PER_CODE:
            kept.append(problem)
    for code, count in counts.items():
        if count > _MAX_PER_CODE:
            yield errors.PROBLEMS_OMITTED.problem(code=code, limit=_MAX_PER_CODE)
    yield from kept


def check_required(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Checks that the fields required by the ApexBridge profile are present. Other profiles are exempt.

    Skips fields that another problem already reports. ``metadata.version`` counts as ``version``.
    """
    for name, expected in _REQUIRED.items() if profile == "apexbridge" else ():
        values = facts.front.values
        if facts.front.unread & {name, _SPELLINGS.get(name, name)}:
            continue  # unreadable fields are already reported
        if values.get(name) is None and values.get(_SPELLINGS.get(name, name)) is None:
            if name in ("name", "description") and not getattr(facts.manifest, name):
                continue  # already reported, because every profile requires them
            if name == "version" and facts.manifest.version:
                continue
            yield facts.at(errors.FIELD_MISSING.problem(field=name, expected=expected), name)


def check_description(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that the description has at most 1,024 characters."""
    length = len(facts.manifest.description)
    if length > MAX_DESCRIPTION_LENGTH:
        yield facts.at(
            errors.DESCRIPTION_TOO_LONG.problem(length=length, limit=MAX_DESCRIPTION_LENGTH), "description"
        )


def check_paths(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that each pattern in ``paths`` can match a file. Reports at most 5 patterns."""
    for pattern in unmatchable_patterns(facts.manifest.paths)[:_MAX_PATTERNS_REPORTED]:
        yield facts.at(errors.PATHS_NEVER_FIT.problem(pattern=printable(pattern)), "paths")


def check_scripts(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Checks that an ApexBridge package has a runnable script, unless it is static or has endpoints."""
    if profile != "apexbridge" or facts.manifest.type == "static" or facts.manifest.endpoints:
        return
    if not any(path.startswith("scripts/") and suffix(path) in RUNNABLE for path in facts.paths):
        yield errors.SCRIPTS_MISSING.problem().at("scripts/")


def check_endpoints(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that the network allowlist allows each endpoint. Without network access, none is allowed."""
    security = facts.manifest.security
    hosts = security.network_allowlist if security.network == "allowlist" else ()
    for index, address in enumerate(facts.manifest.endpoints):
        if not is_allowed(address, hosts):
            location = (
                ("endpoint",) if facts.front.values.get("endpoint") == address else ("endpoints", str(index))
            )
            yield facts.at(errors.ENDPOINT_NOT_LISTED.problem(address=printable(address)), *location)


def check_entry(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that ``resources.entry``, if set, is a runnable file in ``scripts/``."""
    entry = facts.manifest.resources.entry
    if entry is None:
        return
    location, label = ("resources", "entry"), printable(entry)
    if escapes_package(entry):
        yield facts.at(ENTRY_UNSAFE.problem(entry=label), *location)
    elif entry not in facts.paths:
        yield facts.at(errors.RESOURCE_MISSING.problem(field="resources.entry", resource=label), *location)
    elif not entry.startswith("scripts/"):
        yield facts.at(errors.ENTRY_OUTSIDE_SCRIPTS.problem(entry=label), *location)
    elif suffix(entry) not in RUNNABLE:
        yield facts.at(errors.ENTRY_NOT_RUNNABLE.problem(entry=label), *location)


def escapes_package(path: str) -> bool:
    return path.startswith(("/", "../")) or path == ".." or bool(re.match(r"[A-Za-z]:", path))


def check_resources(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that helpers, references and assets are files or folders in the package."""
    folders = {path.rpartition("/")[0] for path in facts.paths}
    for name in ("helpers", "references", "assets"):
        for index, path in enumerate(getattr(facts.manifest.resources, name)):
            field, resource = f"resources.{name}", printable(path)
            if escapes_package(path):
                yield facts.at(
                    errors.RESOURCE_UNSAFE.problem(field=field, resource=resource),
                    "resources",
                    name,
                    str(index),
                )
            elif path not in facts.paths and not any(f == path or f.startswith(path + "/") for f in folders):
                yield facts.at(
                    errors.RESOURCE_MISSING.problem(field=field, resource=resource),
                    "resources",
                    name,
                    str(index),
                )


def check_code(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Checks that executable code is in ``scripts/`` or ``tests/``.

    The script of a single-file skill may be elsewhere.
    """
    allowed = {file.path for file in single_scripts(facts.files)} if profile == "single-file" else set()
    for file in facts.files:
        if file.path.startswith(("scripts/", "tests/")) or file.path in allowed or file.path == SKILL_MD:
            continue
        if suffix(file.path) in CODE or file.data.startswith(_MAGIC):
            yield errors.CODE_OUTSIDE_SCRIPTS.problem().at(printable(file.path))


def check_schemas(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that both schemas are usable, and that the input schema describes an object."""
    for name in ("input_schema", "output_schema"):
        schema = getattr(facts.manifest, name)
        if schema is None:
            continue
        spelling = name if name in facts.front.values else _SPELLINGS[name]
        for flaw in check_schema(schema, where=spelling):
            location = [part.replace("~1", "/").replace("~0", "~") for part in flaw.path.split("/")[1:]]
            yield facts.at(flaw, spelling, *location)
        kind = schema.get("type", "object")
        if name == "input_schema" and kind != "object" and not (isinstance(kind, list) and "object" in kind):
            yield facts.at(errors.SCHEMA_NOT_OBJECT.problem(where=spelling), spelling, "type")


def check_abp(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that an ABP package has tools, and that each has a unique name and valid parameters."""
    if facts.manifest.abp is None and facts.manifest.protocol != "abp":
        return
    tools = (facts.manifest.abp or {}).get("tools")
    if not isinstance(tools, list) or not tools:
        yield facts.at(
            errors.ABP_TOOL.problem(field="abp.tools", reason=gettext_noop("no tools are defined")),
            "abp",
            "tools",
        )
        return
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        label = f"abp.tools[{index}]"
        for reason in _tool_flaws(tool, seen):
            yield facts.at(errors.ABP_TOOL.problem(field=label, reason=reason), "abp", "tools", str(index))


def _tool_flaws(tool: object, seen: set[str]) -> Iterator[str]:
    name = tool.get("name") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or not isinstance(name, str) or not name:
        yield gettext_noop("it has no name")
        return
    if name in seen:
        yield LazyMessage(gettext_noop("%(name)s is duplicated"), name=printable(name))
    seen.add(name)
    parameters = tool.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        yield gettext_noop("`parameters` must be an object with fields")
        return
    flaws = [
        flaw for key, one in (parameters or {}).items() for flaw in _parameter_flaws(printable(key), one)
    ]
    yield from flaws
    if not flaws:
        yield from map(_schema_reason, check_schema(schema_of(parameters)))


def _schema_reason(flaw: Problem) -> str:
    if flaw.code == SCHEMA_REFERENCE.name:
        text = gettext_noop("the schema of its `parameters` refers to another schema: %(reference)s")
    else:
        text = gettext_noop("its `parameters` form an invalid schema: %(reason)s")
    return LazyMessage(text, **flaw.params)


def _parameter_flaws(key: str, parameter: object) -> Iterator[str]:
    if not isinstance(parameter, Mapping):
        yield LazyMessage(gettext_noop("parameter %(name)s must be an object with fields"), name=key)
    elif parameter.get("type", "string") not in _ABP_TYPES:
        text = gettext_noop("parameter %(name)s must have one of the types %(types)s")
        yield LazyMessage(text, name=key, types=_ABP_TYPES)
    elif not isinstance(parameter.get("required", False), bool):
        yield LazyMessage(gettext_noop("`required` of parameter %(name)s must be true or false"), name=key)


def check_single_file(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Checks that a single-file skill has exactly one Python script."""
    if profile != "single-file" or len(allowed := single_scripts(facts.files)) == 1:
        return
    python = [file for file in facts.files if file.path.startswith("scripts/") and file.path.endswith(".py")]
    yield errors.SINGLE_FILE_SCRIPT.problem(count=len(allowed or python)).at("scripts/")


def check_declared_scripts(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that each script declared in ``phases/`` or ``actions/`` exists in ``scripts/``.

    Reads at most 256 kB of these files in total.
    """
    files = {file.path: file.data for file in facts.files}
    paths = sorted(filter(is_phase, files))
    starts = accumulate((len(files[path]) for path in paths), initial=0)
    limits = {path: max(0, _MAX_SCANNED - start) for path, start in zip(paths, starts, strict=False)}
    for phase in find_phases(files, lambda path: files[path][: limits[path]])[0]:
        for script in (one for one in phase.scripts if one.missing):
            problem = errors.SCRIPT_UNDECLARED.problem(script=script.id)
            yield problem.at(printable(phase.path), script.line)


def check_sections(facts: Facts, profile: Profile) -> Iterator[Problem]:
    """Checks that the sections required by the ApexBridge profile exist. Other profiles are exempt.

    The security section is required only if the skill uses secrets, the network or memory.
    """
    if profile != "apexbridge":
        return
    sections = find_sections(facts.front.body)
    for section in SECTIONS:
        is_required = section.required and (section is not SAFETY or _is_sensitive(facts))
        if is_required and section.name not in sections:
            yield errors.SECTION_MISSING.problem(section=section.name, chinese=section.chinese).at(
                SKILL_MD, facts.front.body_line
            )


def _is_sensitive(facts: Facts) -> bool:
    security = facts.manifest.security
    if security.secrets or security.network != "none":
        return True
    scripts = (file for file in facts.files if file.path.startswith("scripts/"))
    return any(_MEMORY_WRITES.search(file.data[:_MAX_SCANNED]) for file in scripts)


_MEMORY_WRITES = re.compile(rb"memoryWrites|memory_writes")


def check_trigger_tests(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that the trigger tests of the package are valid. Does not run them."""
    yield from read_trigger_tests(facts.files).problems


def check_cases(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that the cases of the package are valid. Does not run them."""
    yield from read_cases(facts.files).problems


def check_dependencies(facts: Facts, _: Profile) -> Iterator[Problem]:
    """Checks that the declared dependencies are readable, within limits and from a package index."""
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
    check_cases,
    check_dependencies,
)
_OF_ONE_CODE = (check_code, check_declared_scripts)  # only as many problems are needed as are listed
