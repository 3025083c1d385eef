"""Reads the declared dependencies of a package without resolving them. Disallowed ones become problems."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.packages.dependencies.deno import DenoModules, read_deno
from registry.packages.dependencies.node import NodeLock, read_node
from registry.packages.dependencies.python import Requirement, read_python
from registry.packages.package import PackageFile
from registry.packages.problems import Problem


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
    """The dependencies that a package declares for its scripts, and the problems of all languages."""
    python, node, deno = read_python(files), read_node(files), read_deno(files)
    return Dependencies(
        python=() if python.problems else python.requirements,
        requires_python=() if python.problems else python.requires_python,
        node=None if node.problems else node.lock,
        deno=deno.modules,
        problems=(*python.problems, *node.problems, *deno.problems),
    )


__all__ = ["DenoModules", "Dependencies", "NodeLock", "Requirement", "read_dependencies"]
