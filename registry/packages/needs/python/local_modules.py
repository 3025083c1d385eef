"""Finds the files of a package that a Python import loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property


class LocalModules:
    """Finds the Python modules of a package."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    @cached_property
    def folders(self) -> frozenset[str]:
        """All folders with Python files, compiled modules or stubs at any depth; "" is the package's own
        folder.
        """
        found = {""}
        for path in self.files:
            if path.endswith((".py", ".so", ".pyi")):
                while "/" in path:
                    path = path.rpartition("/")[0]
                    found.add(path)
        return frozenset(found)

    def find(self, module: str, folders: Iterator[str] | tuple[str, ...]) -> tuple[str, ...] | None:
        """The files that ``import module`` loads, from the first of ``folders`` that contains the module.
        None if there is none.
        """
        top = module.partition(".")[0]
        for folder in folders:
            if self._has(_join(folder, top)):
                return tuple(self._loaded(folder, module.split(".")))
        return None

    def loaded_below(self, folder: str, module: str) -> tuple[str, ...]:
        """The files that a relative import of ``module`` from the package ``folder`` loads. If ``module`` is
        "", the package's ``__init__`` file.
        """
        return tuple(self._loaded(folder, module.split("."))) if module else tuple(self._init(folder))

    def _has(self, base: str) -> bool:
        return f"{base}.py" in self.files or base in self.folders

    def _loaded(self, folder: str, parts: list[str]) -> Iterator[str]:
        for part in parts:
            folder = _join(folder, part)
            if f"{folder}.py" in self.files:
                yield f"{folder}.py"
            yield from self._init(folder)

    def _init(self, folder: str) -> Iterator[str]:
        path = _join(folder, "__init__.py")
        if path in self.files:
            yield path


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
