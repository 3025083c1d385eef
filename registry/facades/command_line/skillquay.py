#!/usr/bin/env python3
"""Publishes, pulls, verifies, matches and runs skills of a Skillquay site.

Needs Python 3.9 or newer and no packages. The token is in SKILLQUAY_TOKEN, or it is the password of the
site's host in ~/.netrc. Exit status: 0 done, 1 refused or failed, 2 wrong call.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import netrc
import os
import shutil
import stat
import struct
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

SITE = "http://127.0.0.1:8000"
LOCK = Path("skillquay-lock.json")
FOLDER = ".claude/skills"
IGNORED = {".git", ".hg", ".svn", ".DS_Store", "__MACOSX", "__pycache__", "node_modules"}
ENDED = {"succeeded", "failed", "timed_out", "cancelled", "lost", "refused"}
PUBLISH_OPTIONS = ("team", "version", "visibility", "channel", "changelog")
TIMEOUT_S = 120


class Failure(Exception):
    """An error with a message for the user."""


class Download(NamedTuple):
    """A version that can be pulled. ``source`` is the name that later updates look up again."""

    source: str
    skill: str
    version: str
    digest: str
    archive: str
    notices: list[dict[str, Any]]


class Site:
    """Sends requests to the API of the site. The token is sent only to this site, never after a redirect."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.token = os.environ.get("SKILLQUAY_TOKEN", "").strip() or _netrc_token(self.url)

    def ask(self, path: str, *, body: bytes | None = None, kind: str = "application/json") -> bytes:
        address = path if path.startswith(f"{self.url}/") else f"{self.url}/api/v1{path}"
        request = urllib.request.Request(address, body)
        if body is not None:
            request.add_header("Content-Type", kind)
        if self.token:
            request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            _fail(error)
        except (OSError, ValueError) as error:
            raise Failure(f"Can't reach {self.url}: {getattr(error, 'reason', error)}") from None

    def json(self, path: str, body: Any = None) -> Any:
        data = self.ask(path, body=None if body is None else json.dumps(body).encode())
        return json.loads(data)


def main() -> int:
    arguments = _parser().parse_args()
    site = Site(arguments.site)
    try:
        return int(arguments.act(site, arguments))
    except Failure as failure:
        print(f"skillquay: {failure}", file=sys.stderr)
        return 1
    except (KeyError, TypeError, ValueError) as error:
        print(f"skillquay: {site.url} answered in an unknown form: {error!r}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def publish(site: Site, arguments: argparse.Namespace) -> int:
    path = Path(arguments.path)
    if path.is_dir():
        data, name, kind = zipped(path), f"{path.resolve().name}.zip", "application/zip"
    elif path.is_file():
        is_text = path.suffix.lower() == ".md"
        data, name = path.read_bytes(), path.name
        kind = "text/markdown" if is_text else "application/octet-stream"
    else:
        raise Failure(f"Can't find {path}. Choose an existing file or folder.")
    wanted = {"filename": name, "dry_run": "1" if arguments.dry_run else ""}
    wanted |= {
        key: getattr(arguments, key) for key in ("team", "version", "visibility", "channel", "changelog")
    }
    query = urllib.parse.urlencode({key: value for key, value in wanted.items() if value})
    found = json.loads(site.ask(f"/packages?{query}", body=data, kind=kind))
    for problem in found["problems"]:
        print(_problem_line(problem), file=sys.stderr)
    print(f"{found['skill']}@{found['version']} {found['digest']}")
    return 0 if found["ok"] else 1


def pull(site: Site, arguments: argparse.Namespace) -> int:
    locked = read_lock()
    if not arguments.names:
        if not locked:
            raise Failure(f"{LOCK} contains no skills. Name one: skillquay.py pull TEAM/SKILL")
        for place, row in locked.items():
            exact = resolve(site, f"{row['skill']}@{row['version']}")
            if exact.digest != row["digest"]:
                raise Failure(
                    f"{exact.skill}@{exact.version} does not match the digest in {LOCK}. Check who "
                    f"changed {LOCK}."
                )
            install(site, exact._replace(source=row["source"]), Path(place), locked, arguments.force)
    for name in arguments.names:
        found = resolve(site, name)
        slug = found.source.partition("@")[0].rpartition("/")[2]
        install(site, found, Path(arguments.into, slug), locked, arguments.force)
    return 0


def resolve(site: Site, name: str) -> Download:
    """The version for ``team/slug``, ``team/slug@version``, or the slug of a canonical skill."""
    label, _, number = name.partition("@")
    if "/" not in label:
        slug = label[len("_canonical_") :] if label.startswith("_canonical_") else label
        row = site.json(f"/canonical/{urllib.parse.quote(slug, safe='')}")
        pinned = row["pinned"]
        if not pinned or row["unavailable_reason"]:
            raise Failure(f"The canonical skill {slug} is unavailable: {row['unavailable_reason']}")
        if number and number != pinned["version"]:
            raise Failure(
                f"The canonical skill {slug} is {pinned['version']}, not {number}. Leave out the version."
            )
        return Download(slug, pinned["skill"], pinned["version"], pinned["digest"], row["archive_url"], [])
    path = urllib.parse.quote(label) + "/versions/" + urllib.parse.quote(number or "latest", safe="")
    row = site.json(f"/skills/{path}")
    return Download(name, row["skill"], row["version"], row["digest"], row["archive_url"], row["notices"])


def install(site: Site, found: Download, folder: Path, locked: dict[str, Any], force: bool) -> None:
    """Verifies the digest of the version, replaces the folder's content with it, and updates the lock
    file.
    """
    label = f"{found.skill}@{found.version}"
    for notice in found.notices:
        print(_problem_line(notice), file=sys.stderr)
    place = folder.as_posix()
    present = folder_digest(folder) if folder.is_dir() else ""
    if present not in ("", found.digest, locked.get(place, {}).get("digest")) and not force:
        raise Failure(f"Can't replace {folder}: its files were changed. Copy your changes, then add --force.")
    if present != found.digest:
        data = site.ask(urllib.parse.urlsplit(found.archive).path.partition("/api/v1")[2])
        if "sha256:" + hashlib.sha256(data).hexdigest() != found.digest:
            raise Failure(
                f"The archive of {label} does not match the digest {found.digest}. Try again later."
            )
        _unpack(data, folder)
    locked[place] = {
        "source": found.source,
        "skill": found.skill,
        "version": found.version,
        "digest": found.digest,
        "files": file_digests(folder),
    }
    LOCK.write_text(json.dumps(locked, indent=2, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{place} {label} {found.digest}")


def verify(site: Site, arguments: argparse.Namespace) -> int:
    """Compares each file of the installed skills with the lock file; needs no connection. Returns 1 if a
    file differs, otherwise 0.
    """
    locked, status = read_lock(), 0
    if not locked:
        raise Failure(f"{LOCK} contains no skills. Install one: skillquay.py pull TEAM/SKILL")
    for place, row in sorted(locked.items()):
        changes = differences(Path(place), row)
        status = 1 if changes else status
        print(f"{'CHANGED' if changes else 'ok':8}{place} {row['skill']}@{row['version']}")
        for change in changes:
            print(f"          {change}")
    return status


def doctor(site: Site, arguments: argparse.Namespace) -> int:
    locked = read_lock()
    folders = {path.parent.as_posix() for path in Path(arguments.into).glob("*/SKILL.md")}
    rows = []
    for place in sorted({*locked, *folders}):
        check = _examine_locked if place in locked else _examine_unknown
        rows.append({"path": place, **check(site, Path(place), locked.get(place, {}))})
    if arguments.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    for row in () if arguments.json else rows:
        print(f"{', '.join(row['states']):20}{row['path']} {row['skill']}")
        for line in row["advice"]:
            print(f"{'':20}{line}")
    return 0 if all(row["states"] in (["current"], ["known"]) for row in rows) else 1


def _examine_locked(site: Site, folder: Path, row: dict[str, Any]) -> dict[str, Any]:
    changes = differences(folder, row)
    states, advice = (["changed"] if changes else []), changes[:5]
    if changes:
        advice.append(f"Restore it: skillquay.py pull --force {row['source']}")
    more, remedies = _compare_with_site(site, row)
    label = f"{row['skill']}@{row['version']}"
    return {
        "states": [*states, *more] or ["current"],
        "skill": label,
        "digest": row["digest"],
        "advice": [*advice, *remedies],
    }


def _compare_with_site(site: Site, row: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The states of a version on the site, such as yanked or outdated, and advice for each."""
    states, advice = [], []
    try:
        exact = site.json(f"/skills/{row['skill']}/versions/{urllib.parse.quote(row['version'], safe='')}")
        for notice in exact["notices"]:
            states.append(notice["code"].rpartition("_")[2].lower())
            advice.append(f"{notice['message']} {notice['remedy']}")
        newest = resolve(site, row["source"])
        if newest.digest != row["digest"]:
            states.append("outdated")
            advice.append(f"Use {newest.skill}@{newest.version} instead: skillquay.py pull {row['source']}")
    except Failure as failure:
        states.append("unavailable")
        advice.append(str(failure))
    return states, advice


def _examine_unknown(site: Site, folder: Path, _row: dict[str, Any]) -> dict[str, Any]:
    """Searches the site for a version with the same content as a folder that is not in the lock."""
    digest, advice = folder_digest(folder), []
    query = urllib.parse.urlencode({"q": folder.name, "limit": 20})
    for hit in site.json(f"/search?{query}")["results"]:
        skill = hit["skill"]
        if skill.rpartition("/")[2] != folder.name:
            continue
        for version in site.json(f"/skills/{skill}/versions?limit=100")["items"]:
            if version["digest"] == digest:
                number = version["version"]
                row = {"skill": skill, "version": number, "digest": digest, "source": skill}
                states, remedies = _compare_with_site(site, row)
                remedies.append(f"Add it to {LOCK}: skillquay.py pull {skill}@{number}")
                return {
                    "states": ["known", *states],
                    "skill": f"{skill}@{number}",
                    "digest": digest,
                    "advice": remedies,
                }
        advice.append(f"{skill} has the same name but other content.")
    return {"states": ["unknown"], "skill": "", "digest": digest, "advice": advice}


def match(site: Site, arguments: argparse.Namespace) -> int:
    found = site.json("/match", {"utterance": arguments.text, "limit": arguments.limit})
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    for row in () if arguments.json else found["results"]:
        print(f"{row['score']:.2f}  {row['skill']}@{row['version']}  {row['description']}")
    if not found["results"]:
        print("No skill fits.", file=sys.stderr)
    return 0 if found["results"] else 1


def run(site: Site, arguments: argparse.Namespace) -> int:
    inputs = _json_object(arguments.inputs)
    for pair in arguments.set:
        key, separator, text = pair.partition("=")
        if not separator:
            raise Failure(f"The value {pair} of --set is invalid. Use KEY=VALUE.")
        inputs[key] = _value(text)
    body = {"skill": arguments.skill, "inputs": inputs, "arguments": arguments.argument}
    body |= {"script": arguments.script, "team": arguments.team}
    found = site.json("/runs", {key: value for key, value in body.items() if value})
    print(f"Run {found['id']} of {found['skill']}@{found['version']}: {found['url']}", file=sys.stderr)
    if arguments.follow:
        found = follow(site, found["id"], quiet=arguments.json)
    if arguments.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif not arguments.follow:
        print(found["id"])
    failed = found["status"] in ENDED - {"succeeded"}
    if failed or arguments.follow:
        reason = found["message"] or found["failure_code"] or ""
        print(f"Run {found['id']}: {found['status']} {reason if failed else ''}".rstrip(), file=sys.stderr)
    return 1 if failed else 0


def follow(site: Site, uid: str, *, quiet: bool) -> dict[str, Any]:
    """Prints the log while the run is active, unless ``quiet``. Returns the ended run."""
    offset, attempt, is_waiting = 0, None, False
    while True:
        found: dict[str, Any] = site.json(f"/runs/{uid}?wait=1")
        if found["status"] == "waiting_approval" and not is_waiting:
            is_waiting = True
            print(f"Waiting for approval: {found['approval']['page_url']}", file=sys.stderr)
        if found["attempt"] != attempt:
            offset, attempt = 0, found["attempt"]
        while not quiet:
            log = site.json(f"/runs/{uid}/log?offset={offset}")
            for chunk in log["chunks"]:
                stream = sys.stdout if chunk["stream"] == "stdout" else sys.stderr
                stream.write(chunk["text"])
                stream.flush()
            is_end, offset = log["next_offset"] == offset, log["next_offset"]
            if is_end:
                break
        if found["status"] in ENDED:
            return found


def read_lock() -> dict[str, Any]:
    try:
        found = json.loads(LOCK.read_text(encoding="utf-8")) if LOCK.exists() else {}
    except ValueError:
        raise Failure(f"{LOCK} is not valid JSON. Restore it from version control.") from None
    keys = {"source", "skill", "version", "digest", "files"}
    if not isinstance(found, dict) or any(not isinstance(r, dict) or keys - set(r) for r in found.values()):
        raise Failure(f"{LOCK} does not have the expected fields. Restore it from version control.")
    return found


def package_files(folder: Path) -> list[tuple[str, Path]]:
    """Pairs of relative path and file in archive order: SKILL.md first, then by path. Omits ``IGNORED``
    names.
    """
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if not IGNORED & set(name.parts) and (path.is_symlink() or path.is_file()):
            found.append((name.as_posix(), path))
    return sorted(found, key=lambda row: (row[0] != "SKILL.md", row[0].encode()))


def file_digests(folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in package_files(folder)}


def differences(folder: Path, row: dict[str, Any]) -> list[str]:
    """The differences from the locked version, one line per file. Empty if all bytes are equal."""
    if not folder.is_dir():
        return ["The folder is missing."]
    now, before, found = file_digests(folder), row["files"], []
    for name in sorted({*now, *before}):
        if now.get(name) != before.get(name):
            verb = "removed" if name not in now else "changed" if name in before else "added"
            found.append(f"{verb}: {name}")
    if not found and folder_digest(folder) != row["digest"]:
        found.append("The permissions of a file or the lock were changed.")
    return found


def folder_digest(folder: Path) -> str:
    """The digest of the archive that the site would serve for these files."""
    local, central = bytearray(), bytearray()
    rows = package_files(folder)
    for path, file in rows:
        data, name = file.read_bytes(), path.encode()
        sizes = (zlib.crc32(data), len(data), len(data), len(name), 0)
        shared = struct.pack("<HHHHIIIHH", 0x0800, 0, 0, 0x0021, *sizes)
        mode = 0o100755 if file.stat().st_mode & stat.S_IXUSR else 0o100644
        central += b"PK\x01\x02" + struct.pack("<HH", 3 << 8 | 20, 20) + shared
        central += struct.pack("<HHHII", 0, 0, 0, mode << 16, len(local)) + name
        local += b"PK\x03\x04" + struct.pack("<H", 20) + shared + name + data
    count = len(rows)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(central), len(local), 0)
    return "sha256:" + hashlib.sha256(bytes(local + central + end)).hexdigest()


def zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in package_files(folder):
            archive.write(path, name)
    return buffer.getvalue()


def _unpack(data: bytes, folder: Path) -> None:
    """Unpacks the archive into a new folder, then replaces ``folder`` with it. Raises Failure for a
    path outside the folder.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".pull-") as name:
        fresh = Path(name, "new")
        fresh.mkdir()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                path = fresh / entry.filename
                if fresh.resolve() not in path.resolve().parents:
                    raise Failure(
                        f"The archive contains the unsafe path {entry.filename!r}. Report this to "
                        "an administrator."
                    )
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
                path.chmod(0o755 if entry.external_attr >> 16 & stat.S_IXUSR else 0o644)
        if folder.exists():
            shutil.move(str(folder), str(Path(name, "old")))
        shutil.move(str(fresh), str(folder))


def _netrc_token(url: str) -> str:
    try:
        found = netrc.netrc(os.environ.get("NETRC")).authenticators(urllib.parse.urlsplit(url).hostname or "")
    except (OSError, netrc.NetrcParseError):
        return ""
    return (found[2] or "") if found else ""


def _fail(error: urllib.error.HTTPError) -> NoReturn:
    try:
        document = json.loads(error.read())
        lines = [_problem_line(each) for each in document["problems"][:20]]
    except (ValueError, KeyError, TypeError, OSError):
        raise Failure(
            f"The site answered {error.code} {error.reason}. Check the address of the site."
        ) from None
    raise Failure("\n".join(lines) or document["code"]) from None


def _problem_line(problem: dict[str, Any]) -> str:
    place = problem.get("path") or ""
    place += f":{problem['line']}" if problem.get("line") else ""
    return (
        f"{place + ': ' if place else ''}{problem['code']}: {problem['message']} {problem['remedy']}".strip()
    )


def _json_object(text: str) -> dict[str, Any]:
    found = _value(text)
    if not isinstance(found, dict):
        raise Failure('The value of --inputs is not a JSON object. Use the form {"name": "value"}.')
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--site",
        default=os.environ.get("SKILLQUAY_URL") or SITE,
        help="the address of the site; default: %(default)s",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(act: Any, text: str) -> argparse.ArgumentParser:
        found = commands.add_parser(act.__name__, help=text, description=text)
        found.set_defaults(act=act)
        return found

    one = command(publish, "Publish a package.")
    one.add_argument("path", help="a folder, a zip, a tar.gz or a SKILL.md")
    for name in PUBLISH_OPTIONS:
        one.add_argument(f"--{name}", help=f"the {name} to publish with")
    one.add_argument("--dry-run", action="store_true", help="check the package without publishing it")
    one = command(pull, "Install skills; without names, those in the lock file.")
    one.add_argument("names", nargs="*", metavar="TEAM/SKILL[@VERSION] or SLUG of a canonical skill")
    one.add_argument("--into", default=FOLDER, help="the folder of the skills; default: %(default)s")
    one.add_argument("--force", action="store_true", help="replace folders that were changed")
    command(verify, "Check that the installed skills are unchanged since publication.")
    one = command(doctor, "List which local skills are outdated, changed, yanked, reported or unknown.")
    one.add_argument("--into", default=FOLDER, help="the folder of the skills; default: %(default)s")
    one.add_argument("--json", action="store_true", help="print one JSON document only")
    one = command(match, "Find skills that fit a request.")
    one.add_argument("text", help="the request in words")
    one.add_argument("--limit", type=int, default=5, help="default: %(default)s")
    one.add_argument("--json", action="store_true", help="print one JSON document only")
    one = command(run, "Start a run.")
    one.add_argument("skill", help="TEAM/SKILL[@VERSION], or the slug of a canonical skill")
    one.add_argument("--inputs", default="{}", help="the inputs as a JSON object")
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one input; repeatable")
    one.add_argument("--argument", action="append", default=[], help="one argument of the script; repeatable")
    one.add_argument("--script", help="the id of the script to run")
    one.add_argument("--team", help="the team to run as")
    one.add_argument(
        "--follow",
        action="store_true",
        help="print the log until the run ends; exit with 0 only if it succeeds",
    )
    one.add_argument("--json", action="store_true", help="print one JSON document only")
    return parser


if __name__ == "__main__":
    sys.exit(main())
