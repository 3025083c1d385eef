"""Reads the declared dependencies of a package without resolving them. Disallowed ones become problems."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.packages.command_lines.main_part import shown_commands
from registry.packages.dependencies.deno import DenoModules, is_deno_input, read_deno
from registry.packages.dependencies.node import NodeLock, read_node
from registry.packages.dependencies.python import Requirement, read_python
from registry.packages.manifest.frontmatter import SKILL_MD
from registry.packages.package import PackageFile
from registry.packages.problems import Problem

_CODE = (".py", ".js", ".mjs", ".cjs", ".ts")


@dataclass(frozen=True)
class Dependencies:
    """The dependencies to install, by language. A language with problems has none."""

    python: tuple[Requirement, ...] = ()
    requires_python: tuple[str, ...] = ()
    node: NodeLock | None = None
    deno: DenoModules | None = None
    problems: tuple[Problem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.python or self.node or self.deno)


def read_dependencies(files: Sequence[PackageFile]) -> Dependencies:
    """The dependencies that a package declares for its scripts, and the problems of all languages.

    Scripts are the files in ``scripts/``, and files elsewhere that SKILL.md shows as commands.
    """
    shown = _shown_programs(files)
    python, node, deno = read_python(files, shown), read_node(files, shown), read_deno(files, shown)
    return Dependencies(
        python=() if python.problems else python.requirements,
        requires_python=() if python.problems else python.requires_python,
        node=None if node.problems else node.lock,
        deno=deno.modules,
        problems=(*python.problems, *node.problems, *deno.problems),
    )


def is_dependency_input(path: str) -> bool:
    """Whether ``read_dependencies`` may read this file of a package."""
    return (
        path == SKILL_MD
        or path.startswith("scripts/")
        or path.endswith((".py", "requirements.txt"))
        or is_deno_input(path)
    )


def _shown_programs(files: Sequence[PackageFile]) -> frozenset[str]:
    """The code files outside ``scripts/`` that SKILL.md shows as commands."""
    skill = next((file.data for file in files if file.path == SKILL_MD), b"")
    code = (file.path for file in files if file.path.endswith(_CODE))
    elsewhere = frozenset(path for path in code if not path.startswith("scripts/"))
    return shown_commands(skill, elsewhere) if elsewhere else frozenset()


__all__ = [
    "DenoModules",
    "Dependencies",
    "NodeLock",
    "Requirement",
    "is_dependency_input",
    "read_dependencies",
]
