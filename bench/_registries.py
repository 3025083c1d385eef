"""Starts other registries, verdaccio (npm) and devpi (Python), and publishes packages to them.

The benchmarks that compare with them use this module. README.md has the commands that install them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import subprocess
import tarfile
import urllib.parse
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

from bench._load import Server

PROGRAMS = {"verdaccio": "node_modules/.bin/verdaccio", "devpi": "devpi/bin/devpi-server"}
_PASSWORD = "a long password"
_CONFIG = """
storage: ./storage
auth: {htpasswd: {file: ./htpasswd}}
packages: {"**": {access: $all, publish: $all}}
log: {type: stdout, level: error}
security: {api: {jwt: {sign: {expiresIn: 1d}}}}  # the default token costs a bcrypt hash per request
"""


@dataclass(frozen=True)
class Registry:
    """A running registry. ``headers`` sign requests in."""

    server: Server
    headers: dict[str, str]

    def publish(self, name, version, files):
        """Publishes the files, bytes by path, as a package; returns the URL path of its archive."""
        raise NotImplementedError

    def document_path(self, name):
        """The URL path of the document that lists the package's versions."""
        raise NotImplementedError


class Verdaccio(Registry):
    def publish(self, name, version, files):
        document = _npm_document(name, version, files, self.server.port)
        ask(self.server.port, "PUT", f"/{name}", document, self.headers)
        return f"/{name}/-/{name}-{version}.tgz"

    def document_path(self, name):
        return f"/{name}"


class Devpi(Registry):
    def publish(self, name, version, files):
        _upload(self.server.port, "/bench/dev/", name, version, files, self.headers)
        page = _text(self.server.port, self.document_path(name))
        links = re.findall(r'href="([^"#]+)', page)
        link = next(each for each in links if each.endswith(f"{name}-{version}.zip"))
        return urllib.parse.urljoin(self.document_path(name), link)

    def document_path(self, name):
        return f"/bench/dev/+simple/{name}/"


def installed(folder):
    """The paths of the programs in the folder by name, for the registries that are installed there."""
    found = {name: Path(folder, program) for name, program in PROGRAMS.items()}
    return {name: program for name, program in found.items() if folder and program.exists()}


def versions(folder):
    return {
        name: subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name, program in installed(folder).items()
    }


def start(folder, *, home, free_port, cores):
    """Starts the registries that are installed in the folder, each with a subfolder of ``home``; returns them
    by name. Close their servers afterwards.
    """
    begin = {"verdaccio": start_verdaccio, "devpi": start_devpi}
    registries = {}
    for name, program in installed(folder).items():
        where = Path(home, name)
        where.mkdir()
        registries[name] = begin[name](program.resolve(), home=where, port=free_port(), cores=cores)
    return registries


def start_verdaccio(program, *, home, port, cores):
    Path(home, "config.yaml").write_text(_CONFIG)
    command = ["node", str(program), "--config", str(home / "config.yaml"), "--listen", f"127.0.0.1:{port}"]
    server = Server(command, port=port, cores=cores, log=home / "log", cwd=home)
    server.wait(lambda: ask(port, "GET", "/-/ping") is not None)
    user = {"name": "bench", "password": _PASSWORD}
    token = ask(port, "PUT", "/-/user/org.couchdb.user:bench", user)["token"]
    return Verdaccio(server, {"Authorization": f"Bearer {token}"})


def start_devpi(program, *, home, port, cores):
    where = ["--serverdir", str(home / "data")]
    subprocess.run([program.with_name("devpi-init"), *where], check=True, capture_output=True)
    command = [str(program), *where, "--port", str(port), "--host", "127.0.0.1", "--offline-mode"]
    server = Server(command, port=port, cores=cores, log=home / "log", cwd=home)
    server.wait(lambda: ask(port, "GET", "/+api") is not None)
    ask(port, "PUT", "/bench", {"password": _PASSWORD})
    login = ask(port, "POST", "/+login", {"user": "bench", "password": _PASSWORD})
    secret = base64.b64encode(f"bench:{login['result']['password']}".encode()).decode()
    headers = {"X-Devpi-Auth": secret}
    ask(port, "PUT", "/bench/dev", {"bases": []}, headers)
    return Devpi(server, headers)


def _npm_document(name, version, files, port):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(f"package/{path}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    tarball = packed.getvalue()
    address = f"http://127.0.0.1:{port}/{name}/-/{name}-{version}.tgz"
    dist = {"shasum": hashlib.sha1(tarball).hexdigest(), "tarball": address}
    attachment = {
        "content_type": "application/octet-stream",
        "data": base64.b64encode(tarball).decode(),
        "length": len(tarball),
    }
    return {
        "_id": name,
        "name": name,
        "dist-tags": {"latest": version},
        "versions": {version: {"name": name, "version": version, "dist": dist}},
        "_attachments": {f"{name}-{version}.tgz": attachment},
    }


def _upload(port, path, name, version, files, headers):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        archive.writestr(f"{name}-{version}/PKG-INFO", about)
        for each, data in files.items():
            archive.writestr(f"{name}-{version}/{each}", data)
    fields = {":action": "file_upload", "name": name, "version": version, "filetype": "sdist"}
    edge = b"--edge\r\nContent-Disposition: form-data; name="
    body = b"".join(edge + f'"{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items())
    body += edge + f'"content"; filename="{name}-{version}.zip"\r\n\r\n'.encode()
    body += packed.getvalue() + b"\r\n--edge--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=edge"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {**headers, **kind})
    urllib.request.urlopen(request, timeout=30).read()


def ask(port, method, path, document=None, headers=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    for name, value in {"Accept": "application/json", **(headers or {})}.items():
        request.add_header(name, value)
    if document is not None:
        request.data = json.dumps(document).encode()
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"{}")


def _text(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return answer.read().decode()
