"""A package index on loopback for wheels, npm and JSR packages that the test builds."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import ssl
import tarfile
import threading
import zipfile
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def wheel(name, version="1.0.0", *, files=None, needs=(), more=()):
    """The bytes of a wheel of ``files`` by path; ``more`` are entries that its RECORD omits."""
    folder = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
    content = {f"{name}.py": f"VERSION = {version!r}\n"} if files is None else dict(files)
    content[f"{folder}/METADATA"] = metadata
    content[f"{folder}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    content[f"{folder}/RECORD"] = "".join(f"{path},,\n" for path in [*content, f"{folder}/RECORD"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in [*content.items(), *more]:
            archive.writestr(path, text)
    return buffer.getvalue()


def npm_archive(files):
    """A compressed tar of these texts by path."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def integrity(data):
    """The Subresource Integrity value of the data, as npm registries state it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def make_certificate(folder, host):
    """The paths of an authority's certificate, a key, and the host's certificate for that key."""
    authority, served = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("Tests", host)]
    now = datetime.now(UTC)
    for name, key, path in ((names[0], authority, "authority.pem"), (names[1], served, "cert.pem")):
        built = x509.CertificateBuilder(names[0], name, key.public_key(), x509.random_serial_number())
        built = built.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        built = built.add_extension(x509.BasicConstraints(ca=key is authority, path_length=None), True)
        (folder / path).write_bytes(built.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM))
    plain = served.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(plain)
    return folder / "authority.pem", folder / "key.pem", folder / "cert.pem"


class PackageIndex:
    """A package index that records ``requests`` (path, credentials) and serves ``redirects`` by path.

    ``tls`` is a key and its certificate. ``add`` adds a wheel; ``npm`` and ``jsr`` add a package below
    /npm/ and /jsr/ in the formats of those registries.
    """

    def __init__(self, tls=None):
        self.files, self.pages, self.requests, self.redirects, self.pause = {}, {}, [], {}, 0
        self.stopping = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls[1], tls[0])
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @classmethod
    @contextmanager
    def serving(cls, settings):
        """Runs an index that the site may call, and gives builds enough time on a busy machine."""
        settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
        settings.SKILLQUAY_DEPENDENCIES_SECONDS = 60
        index = cls()
        try:
            yield index
        finally:
            index.stop()

    @property
    def url(self):
        return f"{self.root}/simple"

    def add(self, name, data, filename=None, version="1.0.0"):
        filename = filename or f"{name}-{version}-py3-none-any.whl"
        self.files[f"/files/{filename}"] = data
        digest = hashlib.sha256(data).hexdigest()
        link = f'<a href="../../files/{filename}#sha256={digest}">{filename}</a>'
        self.pages.setdefault(f"/simple/{name}/", {})[filename] = link

    def npm(self, name, files, version="1.0.0", *, data=None, digest=None, **more):
        """Adds an npm package; ``data`` replaces its archive, ``digest`` the integrity on its page."""
        manifest = {"name": name, "version": version, "main": "index.js"} | more
        text = {"package/package.json": json.dumps(manifest)} | {f"package/{k}": v for k, v in files.items()}
        archive = npm_archive(text) if data is None else data
        path = f"/npm/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self.files[path] = archive
        dist = {"tarball": self.root + path, "integrity": digest or integrity(archive)}
        document = json.loads(self.files.get(f"/npm/{name}") or "{}")
        versions = document.get("versions", {}) | {version: {**manifest, "dist": dist}}
        page = {"name": name, "dist-tags": {"latest": version}, "versions": versions}
        self.files[f"/npm/{name}"] = json.dumps(page).encode()

    def jsr(self, name, files, version="1.0.0", *, checksums=None):
        """Adds a JSR package; ``checksums`` replace those of its files by path."""
        digests = {
            path: "sha256-" + hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()
        }
        digests |= checksums or {}
        listed = {path: {"size": len(text), "checksum": digests[path]} for path, text in files.items()}
        about = {"manifest": listed, "exports": {".": "./mod.ts"}}
        meta = {"name": name, "latest": version, "versions": {version: {}}}
        self.files[f"/jsr/{name}/meta.json"] = json.dumps(meta).encode()
        self.files[f"/jsr/{name}/{version}_meta.json"] = json.dumps(about).encode()
        self.files |= {f"/jsr/{name}/{version}{path}": text.encode() for path, text in files.items()}

    @property
    def root(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def stop(self):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                index.requests.append((self.path, self.headers.get("Authorization")))
                page = index.pages.get(self.path)
                known = index.files.get(unquote(self.path))
                body = known if page is None else "\n".join(page.values()).encode()
                index.stopping.wait(index.pause)
                target = index.redirects.get(self.path)
                self.send_response(302 if target else 404 if body is None else 200)
                if target:
                    self.send_header("Location", target)
                kind = "application/typescript" if self.path.endswith(".ts") else "application/octet-stream"
                self.send_header("Content-Type", kind if page is None else "text/html")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *arguments):
                pass

        return Handler
