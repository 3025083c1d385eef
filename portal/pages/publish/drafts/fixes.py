"""Changes of SKILL.md that a button of the publish page makes, for problems with one clear remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from portal.pages.publish.drafts.upload import Upload, upload_limits, with_files
from registry.packages.checks.errors import FIELD_MISSING
from registry.packages.checks.profiles import choose_profile
from registry.packages.errors import FIELD_MISSPELLED, FIELD_VALUE, VERSION_INVALID
from registry.packages.manifest.frontmatter import SKILL_MD, FrontMatter
from registry.packages.migrate.header import edit_header, with_header
from registry.packages.migrate.migration import missing_fields
from registry.packages.near_misses import closest
from registry.packages.package import Package
from registry.packages.problems import Problem, Refusal
from registry.versions.errors import VERSION_EXISTS

VERSION = "version"
ADD = "add"  # the name of the fix that adds all missing fields


@dataclass(frozen=True)
class Fix:
    """A change of front matter fields. ``name`` is the value of its button."""

    name: str
    label: str
    updates: Mapping[str, Any] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


def apply_fix(name: str, upload: Upload, number: str) -> Upload:
    """The upload after the fix with this name; unchanged if the package has no such fix.

    ``number`` is the version to set. Raises Refusal if the result can't be read.
    """
    package, front = upload.package, upload.package.front_matter
    found = next((fix for fix in _all_fixes(package, number) if fix.name == name), None)
    file = package.file(SKILL_MD)
    if found is None or front is None or file is None or not (found.updates or found.removed):
        return upload
    header = edit_header(front, found.updates, found.removed, upload_limits())
    changed = replace(file, data=with_header(file.data, front, header))
    return with_files(upload, (changed if each is file else each for each in package.files))


def _all_fixes(package: Package, number: str) -> Iterator[Fix]:
    if front := _editable(package):
        yield _version_fix(package, front, number)
    yield from profile_fixes(package, number)
    yield from filter(None, (problem_fix(problem, package, number) for problem in package.problems))


def problem_fix(problem: Problem, package: Package, number: str) -> Fix | None:
    """The fix of this problem; None if the author must decide. ``number`` is the next version."""
    front = _editable(package)
    if front is None:
        return None
    name = str(problem.params.get("field", ""))
    is_missing_version = problem.code == FIELD_MISSING.name and name == VERSION
    if problem.code in (VERSION_EXISTS.name, VERSION_INVALID.name) or is_missing_version:
        return _version_fix(package, front, number)
    if problem.path != SKILL_MD:
        return None
    if problem.code == FIELD_MISSPELLED.name:
        return _rename_fix(front.values, name, str(problem.params["known"]))
    if problem.code == FIELD_VALUE.name:
        return _value_fix(front.values, name, problem)
    return None


def profile_fixes(package: Package, number: str) -> list[Fix]:
    """Both ways out of a strict profile: removing the field that chose it, and adding the missing fields."""
    front = _editable(package)
    choice = choose_profile(front.values, package.files) if front else None
    if front is None or choice is None or choice.profile == "agentskills":
        return []
    fixes = []
    name = choice.field
    if name and front.at(name)[0] == SKILL_MD:
        label = _("Remove %(field)s and check again") % {"field": name}
        if name == "metadata":
            rest = {key: value for key, value in front.values[name].items() if key != "profile"}
            fixes.append(Fix(f"remove:{name}", label, {name: rest}))
        else:
            fixes.append(Fix(f"remove:{name}", label, removed=(name,)))
    if choice.profile == "apexbridge" and (updates := _missing(package, number)):
        names = pgettext("list", ", ").join(updates)
        label = ngettext("Add the field %(names)s", "Add %(n)s fields: %(names)s", len(updates))
        fixes.append(Fix(ADD, label % {"n": len(updates), "names": names}, updates))
    return fixes


def _editable(package: Package) -> FrontMatter | None:
    """The front matter; None if fields can't be changed because it could not be read completely."""
    front = package.front_matter
    return None if front is None or front.is_broken else front


def _missing(package: Package, number: str) -> dict[str, Any]:
    """Values for the missing required fields that follow from other parts of the package."""
    wanted = {str(each.params.get("field")) for each in package.problems if each.code == FIELD_MISSING.name}
    with suppress(Refusal):  # the reason is among the problems shown
        found = missing_fields(package)
        return {name: number if name == VERSION else value for name, value in found.items() if name in wanted}
    return {}


def _version_fix(package: Package, front: FrontMatter, number: str) -> Fix:
    """Sets the version where SKILL.md has it. A package without a version gets the next one anyway."""
    label = _("Use version %(number)s") % {"number": number}
    group = front.values.get("metadata")
    if VERSION not in front.values and isinstance(group, dict) and VERSION in group:
        return Fix(VERSION, label, {"metadata": {**group, VERSION: number}})
    if package.manifest.version_as_written or package.profile == "apexbridge":
        return Fix(VERSION, label, {VERSION: number})
    return Fix(VERSION, label)


def _rename_fix(values: Mapping[str, Any], name: str, known: str) -> Fix | None:
    label = _("Rename %(field)s to %(known)s") % {"field": name, "known": known}
    (old_group, old), (new_group, new) = _split(name), _split(known)
    source, target = _group(values, old_group), _group(values, new_group)
    if source is None or target is None or old not in source or new in target:
        return None
    if old_group == new_group:
        renamed = {new if key == old else key: value for key, value in source.items()}
        updates = {old_group: renamed} if old_group else {new: source[old]}
    else:
        updates = {new_group: {**target, new: source[old]}}
    return Fix(f"rename:{name}", label, updates, () if old_group else (old,))


def _value_fix(values: Mapping[str, Any], name: str, problem: Problem) -> Fix | None:
    options = set(re.findall(r"[\w-]+", str(problem.params["expected"]))) - {"one", "of", "or"}
    meant = closest(problem.params["found"], options)
    group_name, key = _split(name)
    group = _group(values, group_name)
    if meant is None or group is None or key not in group:
        return None
    label = _("Change %(field)s to %(value)s") % {"field": name, "value": meant}
    return Fix(f"value:{name}", label, {group_name: {**group, key: meant}} if group_name else {key: meant})


def _split(name: str) -> tuple[str, str]:
    """Group and key of a field: "security.network" → ("security", "network"), "type" → ("", "type")."""
    group, dot, key = name.partition(".")
    return (group, key) if dot else ("", name)


def _group(values: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    found = values.get(name, {}) if name else values
    return found if isinstance(found, dict) else None
