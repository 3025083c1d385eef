"""The folder in which a script starts: its input files as writable copies, and links to the package."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from worker.files import inputs
from worker.sandbox.layout import PACKAGE, WORK
from worker.sandbox.policy import CheckStop

OUTPUT = "output"


def create_working_folder(
    job_folder: Path, files: Iterable[Mapping[str, Any]], paths: Iterable[str], *, check_stop: CheckStop
) -> None:
    """Creates the working folder of a run with ``files`` and a package with ``paths``.

    A link to the output folder or to a top folder of the package is omitted if its name is taken. Raises
    CANCELLED if ``check_stop`` reports a reason, or Refusal if the storage fails.
    """
    folder = job_folder / WORK
    folder.mkdir(mode=0o755)
    inputs.copy_inputs(files, folder, check_stop=check_stop)
    links = {OUTPUT: f"../{OUTPUT}"} | {name: f"{PACKAGE}/{name}" for name in top_folders(paths)}
    for name, target in links.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(target)


def top_folders(paths: Iterable[str]) -> list[str]:
    return sorted({path.partition("/")[0] for path in paths if "/" in path})
