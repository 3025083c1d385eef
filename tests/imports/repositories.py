"""A git repository of a test's own, served by git's own ``http-backend``."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.imports.serving import Handler

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "tests" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2026-01-02T03:04:05Z" for who in ("AUTHOR", "COMMITTER")},
}


class Made:
    """``made.commit({"a/SKILL.md": "…"})`` in ``root/skills.git``; a text of None takes a file away."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "skills.git"
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        (self.folder / ".git" / "git-daemon-export-ok").touch()

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=_ENVIRONMENT, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str | None], *, tag: str = "") -> str:
        for path, text in files.items():
            place = self.folder / path
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a commit")
        if tag:
            self.git("tag", "-a", "-m", tag, tag)
        return self.git("rev-parse", "HEAD")


def backend(root: Path):
    """What answers every path of a server with git's own program, as a web server's CGI would."""

    def answer(handler: Handler) -> None:
        path, _, query = handler.path.partition("?")
        environment = _ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(root),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(handler.heard.body)),
            "GIT_PROTOCOL": handler.headers.get("git-protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            env=environment,
            input=handler.heard.body,
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        named = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(named.pop("Status", "200").split()[0])
        handler.send(status, body, **{name.replace("-", "_"): value for name, value in named.items()})

    return answer
