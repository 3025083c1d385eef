"""The runtimes that every site can build: pinned Python libraries, and programs of the worker.

``NAME.txt`` next to this module has the version and hashes of each library of the runtime NAME.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parent
_PIN = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>\S+)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)"
)
_PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"  # the PATH in the sandbox


@dataclass(frozen=True)
class Pin:
    """The only permitted version of a library, with the SHA-256 of each of its files."""

    name: str
    version: str
    hashes: frozenset[str]

    @property
    def line(self) -> str:
        """The pin as a line of a requirements file."""
        return " ".join(
            [f"{self.name}=={self.version}", *(f"--hash=sha256:{h}" for h in sorted(self.hashes))]
        )


@dataclass(frozen=True)
class RuntimeList:
    """A runtime: ``libraries`` to import, ``pins`` for them and their dependencies, and ``programs`` to call.

    ``programs`` maps each program to the Debian package that contains it. ``digest`` changes with the pins.
    """

    name: str
    libraries: tuple[str, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)
    pins: Mapping[str, Pin] = field(default_factory=dict)
    digest: str = ""

    @property
    def missing_programs(self) -> list[str]:
        return [program for program in self.programs if not shutil.which(program, path=_PROGRAM_PATH)]


_LISTS = (
    RuntimeList(
        "office",
        ("pypdf", "openpyxl", "python-docx", "python-pptx", "pillow", "reportlab"),
        {"soffice": "libreoffice-nogui", "pdftoppm": "poppler-utils"},
    ),
    RuntimeList("data", ("numpy", "pandas", "matplotlib", "scipy")),
    RuntimeList("web", ("requests", "beautifulsoup4", "lxml")),
    RuntimeList("tools", (), {name: name for name in ("jq", "sqlite3", "ffmpeg", "git", "curl")}),
)
NAMES = tuple(each.name for each in _LISTS)


def runtime_list(name: str) -> RuntimeList | None:
    """The runtime with this name; None if there is none, or if the site has a folder of that name."""
    if name in settings.SKILLQUAY_RUNTIMES or name not in NAMES:
        return None
    return _read_list(name, FOLDER)


def is_known_runtime(name: str) -> bool:
    return name in settings.SKILLQUAY_RUNTIMES or name in NAMES


def known_runtimes() -> list[str]:
    return sorted({*settings.SKILLQUAY_RUNTIMES, *NAMES})


@cache
def _read_list(name: str, folder: Path) -> RuntimeList:
    runtime = next(each for each in _LISTS if each.name == name)
    if not runtime.libraries:
        return runtime
    text = (folder / f"{name}.txt").read_text("utf-8")
    pins = {pin.name: pin for pin in map(_pin, _lines(text))}
    digest = hashlib.sha256("\n".join(pin.line for pin in pins.values()).encode()).hexdigest()
    return RuntimeList(name, runtime.libraries, runtime.programs, pins, digest)


def _lines(text: str) -> list[str]:
    joined = (" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines())
    return [line for line in joined if line and not line.startswith("#")]


def _pin(line: str) -> Pin:
    found = _PIN.fullmatch(line)
    if found is None:
        raise ValueError(f"not a pinned library with hashes: {line}")
    hashes = frozenset(re.findall(r"sha256:([0-9a-f]{64})", found["hashes"]))
    return Pin(str(canonicalize_name(found["name"])), found["version"], hashes)
