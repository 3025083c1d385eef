"""Starts verdaccio and devpi with one package each, for ``bench reads``."""

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
from pathlib import Path

from bench._load import Read, Server

_CONFIG = """
storage: ./storage
auth: {htpasswd: {file: ./htpasswd}}
packages: {"**": {access: $all, publish: $all}}
log: {type: stdout, level: error}
security: {api: {jwt: {sign: {expiresIn: 1d}}}}  # the default token costs a bcrypt hash per request
"""


def start(folder, *, data, site_folder, free_port, cores):
    """Starts the peers installed in the folder; returns the servers by name, and the reads to measure on
    them.
    """
    servers, reads = {}, []
    programs = {
        "verdaccio": (Path(folder, "node_modules/.bin/verdaccio"), _verdaccio),
        "devpi": (Path(folder, "devpi/bin/devpi-server"), _devpi),
    }
    for name, (program, begin) in programs.items():
        if program.exists():
            home = Path(site_folder, name)
            home.mkdir()
            servers[name], found = begin(program.resolve(), home, free_port(), data, cores)
            reads += found
    return servers, reads


def versions(folder):
    programs = {"verdaccio": "node_modules/.bin/verdaccio", "devpi": "devpi/bin/devpi-server"}
    return {
        name: subprocess.run(
            [Path(folder, program), "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name, program in programs.items()
        if Path(folder, program).exists()
    }


def _verdaccio(program, home, port, data, cores):
    Path(home, "config.yaml").write_text(_CONFIG)
    command = ["node", str(program), "--config", str(home / "config.yaml"), "--listen", f"127.0.0.1:{port}"]
    server = Server(command, port=port, cores=cores, log=home / "log", cwd=home)
    server.wait(lambda: _ask(port, "GET", "/-/ping") is not None)
    user = {"name": "bench", "password": "a long password"}
    token = _ask(port, "PUT", "/-/user/org.couchdb.user:bench", user)["token"]
    headers = {"Authorization": f"Bearer {token}"}
    _ask(port, "PUT", "/bench", _npm_document(data, port), headers)
    package = "/bench/-/bench-1.0.0.tgz"
    return server, [
        Read("verdaccio package, signed in", "verdaccio", (package,), headers),
        Read("verdaccio package, anonymous", "verdaccio", (package,)),
        Read("verdaccio document, anonymous", "verdaccio", ("/bench",)),
    ]


def _npm_document(data, port):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/data.bin")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    tarball = packed.getvalue()
    version = {
        "name": "bench",
        "version": "1.0.0",
        "dist": {
            "shasum": hashlib.sha1(tarball).hexdigest(),
            "tarball": f"http://127.0.0.1:{port}/bench/-/bench-1.0.0.tgz",
        },
    }
    attachment = {
        "content_type": "application/octet-stream",
        "data": base64.b64encode(tarball).decode(),
        "length": len(tarball),
    }
    return {
        "_id": "bench",
        "name": "bench",
        "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": version},
        "_attachments": {"bench-1.0.0.tgz": attachment},
    }


def _devpi(program, home, port, data, cores):
    where = ["--serverdir", str(home / "data")]
    subprocess.run([program.with_name("devpi-init"), *where], check=True, capture_output=True)
    command = [str(program), *where, "--port", str(port), "--host", "127.0.0.1", "--offline-mode"]
    server = Server(command, port=port, cores=cores, log=home / "log", cwd=home)
    server.wait(lambda: _ask(port, "GET", "/+api") is not None)
    _ask(port, "PUT", "/bench", {"password": "a long password"})
    login = _ask(port, "POST", "/+login", {"user": "bench", "password": "a long password"})
    secret = base64.b64encode(f"bench:{login['result']['password']}".encode()).decode()
    headers = {"X-Devpi-Auth": secret}
    _ask(port, "PUT", "/bench/dev", {"bases": []}, headers)
    _upload(port, "/bench/dev/", data, headers)
    page = _text(port, "/bench/dev/+simple/bench/")
    link = urllib.parse.urljoin("/bench/dev/+simple/bench/", re.search(r'href="([^"#]+)', page)[1])
    return server, [
        Read("devpi package, signed in", "devpi", (link,), headers),
        Read("devpi package, anonymous", "devpi", (link,)),
        Read("devpi document, anonymous", "devpi", ("/bench/dev/+simple/bench/",)),
    ]


def _upload(port, path, data, headers):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bench-1.0.0/PKG-INFO", "Metadata-Version: 2.1\nName: bench\nVersion: 1.0.0\n")
        archive.writestr("bench-1.0.0/data.bin", data)
    fields = {":action": "file_upload", "name": "bench", "version": "1.0.0", "filetype": "sdist"}
    edge = b"--edge\r\nContent-Disposition: form-data; name="
    body = b"".join(edge + f'"{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items())
    body += edge + b'"content"; filename="bench-1.0.0.zip"\r\n\r\n' + packed.getvalue() + b"\r\n--edge--\r\n"
    kind = {"Content-Type": "multipart/form-data; boundary=edge"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {**headers, **kind})
    urllib.request.urlopen(request, timeout=30).read()


def _ask(port, method, path, document=None, headers=None):
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
