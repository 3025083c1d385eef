"""The program by which a script without ``execute()`` starts another skill, laid into its own folder."""

from __future__ import annotations

from pathlib import Path

_PROGRAM = Path(__file__).parent / "runners" / "skillquay_run.py"
_NAME = "skillquay-run"


def helper(job_dir: Path) -> dict[str, str]:
    """Lays the program down; returns the variable that names it to the script."""
    place = job_dir / _NAME
    place.write_bytes(_PROGRAM.read_bytes())
    place.chmod(0o755)
    return {"SKILLQUAY_RUN": f"/job/{_NAME}"}
