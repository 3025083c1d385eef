"""Presents the profile of a package that is being published: why it applies, and how to avoid it."""

from dataclasses import dataclass

from registry.packages.checks.profiles import ProfileChoice, choose_profile
from registry.packages.manifest.frontmatter import FrontMatter
from registry.packages.package import Package, Profile
from registry.packages.read_package import problems_by_profile

_DEFAULT: Profile = "agentskills"


@dataclass(frozen=True)
class ProfileCause:
    """The reason for a profile. ``place`` and ``value`` describe the front matter field that decided the
    choice.
    """

    choice: ProfileChoice
    place: str  # such as "SKILL.md:4"; "" without a field
    value: str  # such as "type: direct"
    default_errors: int  # number of errors under the default profile


def profile_cause(package: Package) -> ProfileCause | None:
    """The reason why the package's profile applies; None if the front matter could not be read."""
    front = package.front_matter
    if front is None:
        return None
    choice = choose_profile(front.values, package.files)
    found = problems_by_profile(package).get(_DEFAULT, ()) if choice.profile != _DEFAULT else ()
    errors = sum(problem.severity == "error" for problem in found)
    return ProfileCause(choice, _place(front, choice.field), _value(front, choice.field), errors)


def _place(front: FrontMatter, field: str) -> str:
    if not field:
        return ""
    path, line = front.at(field)
    return f"{path}:{line}" if line else path


def _value(front: FrontMatter, field: str) -> str:
    value = front.values.get(field)
    return f"{field}: {value}" if isinstance(value, str) else field
