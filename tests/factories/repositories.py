"""A git repository and a server for it, which runs ``git http-backend``."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.servers.http import Handler, Responder

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{field}": "tests" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")},
    **{f"GIT_{role}_DATE": "2026-01-02T03:04:05Z" for role in ("AUTHOR", "COMMITTER")},
}


class GitRepository:
    """A repository in ``root/skills.git``, which ``git http-backend`` serves at ``url``."""

    url = ""

    def __init__(self, root: Path) -> None:
        self.folder = root / "skills.git"
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        (self.folder / ".git" / "git-daemon-export-ok").touch()

    def git(self, *words: str) -> str:
        """Runs git in the repository and returns its output."""
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=_ENVIRONMENT, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str | None], *, tag: str = "") -> str:
        """Commits these texts and returns the commit's id. None as a text deletes the file."""
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


def git_http_backend(root: Path) -> Responder:
    """A responder that runs ``git http-backend`` as a web server runs a CGI program."""

    def answer(handler: Handler) -> None:
        path, _, query = handler.path.partition("?")
        environment = _ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(root),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(handler.recorded.body)),
            "GIT_PROTOCOL": handler.headers.get("git-protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"],
            env=environment,
            input=handler.recorded.body,
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        handler.send(status, body, **{name.replace("-", "_"): value for name, value in headers.items()})

    return answer
