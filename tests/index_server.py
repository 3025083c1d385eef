"""An index of packages of one's own: wheels and npm archives made by the test, served on loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def wheel(name, version="1.0.0", *, files=None, needs=(), more=()):
    """The bytes of a wheel: ``files`` by path, ``more`` as they are, unnamed in its RECORD."""
    folder = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
    content = {f"{name}.py": f"VERSION = {version!r}\n"} if files is None else dict(files)
    content[f"{folder}/METADATA"] = metadata
    content[f"{folder}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    content[f"{folder}/RECORD"] = "".join(f"{path},,\n" for path in [*content, f"{folder}/RECORD"])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in [*content.items(), *more]:
            archive.writestr(path, text)
    return held.getvalue()


def npm_archive(files):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return held.getvalue()


def integrity(data):
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


class Index:
    """``add`` what it holds; ``asked`` are the paths and credentials that it was asked with."""

    def __init__(self):
        self.files, self.pages, self.asked, self.pause = {}, {}, [], 0
        self.stopping = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/simple"

    def add(self, name, data, filename=None, version="1.0.0"):
        filename = filename or f"{name}-{version}-py3-none-any.whl"
        self.files[f"/files/{filename}"] = data
        digest = hashlib.sha256(data).hexdigest()
        link = f'<a href="../../files/{filename}#sha256={digest}">{filename}</a>'
        self.pages.setdefault(f"/simple/{name}/", {})[filename] = link

    def stop(self):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        index = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.append((self.path, self.headers.get("Authorization")))
                page = index.pages.get(self.path)
                body = index.files.get(self.path) if page is None else "\n".join(page.values()).encode()
                index.stopping.wait(index.pause)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "application/octet-stream" if page is None else "text/html")
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *arguments):
                pass

        return Answers
