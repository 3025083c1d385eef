"""Installs the program with which scripts without ``execute()`` run other skills."""

from pathlib import Path

_PROGRAM = Path(__file__).parent / "runners" / "skillquay_run.py"
_NAME = "skillquay-run"


def install_program(job_dir: Path) -> dict[str, str]:
    """Copies the program to the job folder; returns the variable SKILLQUAY_RUN with its sandbox path."""
    path = job_dir / _NAME
    path.write_bytes(_PROGRAM.read_bytes())
    path.chmod(0o755)
    return {"SKILLQUAY_RUN": f"/job/{_NAME}"}
