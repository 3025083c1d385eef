"""Small packages made in a test, and calls of them in a real sandbox."""

from __future__ import annotations

from registry.packages.read_package import read_files
from tests.examples.running import run
from worker.protocols.call import Request

PLAIN = "---\nname: x\ndescription: A skill of a test.\n---\n"
SINGLE = "---\nname: x\ndescription: A skill of a test.\nprofile: single-file\n---\n"


def package_of(files, skill=PLAIN):
    """A package of ``{path: text}``."""
    given = {"SKILL.md": skill, **files}
    return read_files([(path, text.encode()) for path, text in given.items()])


def call(files, at, *, skill=PLAIN, limits=None, **request):
    """What came of calling the package made of ``files``."""
    at.chmod(0o755)
    return run(package_of(files, skill), Request(**request), at, limits)
