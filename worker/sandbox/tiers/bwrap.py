"""Tier ``bwrap``: turns the layout into options of bubblewrap 0.8 or later."""

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from worker.sandbox import layout, runtimes
from worker.sandbox.limits import seccomp
from worker.sandbox.policy import Job

Option = str | dict[str, str]
# bubblewrap sets no limits, so a shell inside sets them; inside, only this sandbox's processes count. dash
# uses -p for processes, bash and busybox -u. A limit above the machine's hard limit stays unchanged.
_LIMIT_AND_EXEC = (
    "ulimit -c 0; ulimit -f {blocks} 2>/dev/null; ulimit -n {descriptors} 2>/dev/null; "
    "ulimit -u {processes} 2>/dev/null || ulimit -p {processes} || exit 126; "
    'exec "$@"'
)
_FIXED = (
    "--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --cap-drop ALL "
    f"--uid {layout.UID} --gid {layout.UID} --hostname skill --clearenv"
).split()


@cache
def program() -> str | None:
    return shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")


def plan(job: Job, steps: list[layout.LayoutStep]) -> dict[str, Any]:
    """The part of the launcher's order for this tier.

    In ``options``, ``{"bytes": …}`` (latin-1) stands for the number of a descriptor that reads these bytes.
    """
    options: list[Option] = list(_FIXED)
    for name, value in layout.environment(job).items():
        options += ["--setenv", name, value]
    for step in steps:
        options += _options(step)
    options += ["--remount-ro", "/", "--chdir", job.cwd]
    options += ["--seccomp", {"bytes": seccomp.program(pinned=job.limits.cpus > 0).decode("latin-1")}]
    return {"program": program(), "options": options, "argv": _argv(job, layout.rlimits(job))}


def _argv(job: Job, limits: Mapping[str, int]) -> list[str]:
    blocks = limits["file_bytes"] // 512
    text = _LIMIT_AND_EXEC.format(blocks=blocks, **limits)
    script = ["/bin/sh", "-c", text, "sh", *job.argv]
    if job.network is None:
        return script
    return [f"{runtimes.FOLDER}/bin/python", "-I", "-S", "-B", "-c", _gate_source(), *script]


@cache
def _gate_source() -> str:
    return (Path(__file__).parent.parent / "inner" / "gate.py").read_text(encoding="utf-8")


def _empty(folder: str) -> list[Option]:
    return ["--perms", "0555", "--size", "4096", "--tmpfs", folder, "--remount-ro", folder]


def _options(step: layout.LayoutStep) -> list[Option]:
    match step:
        case layout.BindMount():
            kind = ("--ro-bind" if step.read_only else "--bind") + ("-try" if step.optional else "")
            return [kind, step.outside, step.inside]
        case layout.Symlink():
            return ["--symlink", step.to, step.inside]
        case layout.TextFile():
            return ["--perms", "0644", "--ro-bind-data", {"bytes": step.text}, step.inside]
        case layout.TmpfsMount():
            return ["--perms", "1777", "--size", str(step.size), "--tmpfs", step.inside]
        case layout.ProcMount():
            # The first process has no limits, so a script that could write to its memory would escape the
            # limits.
            return ["--proc", step.inside, *_empty(f"{step.inside}/1")]
        case layout.DevMount():
            shared = ["--perms", "1777", "--size", str(step.size), "--tmpfs", f"{step.inside}/shm"]
            if step.shared:
                shared = ["--bind", step.shared, f"{step.inside}/shm"]
            return ["--dev", step.inside, *shared, "--remount-ro", step.inside]
