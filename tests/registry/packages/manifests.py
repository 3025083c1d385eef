"""Reads front matter, for the tests of manifests."""

from typing import Any

from registry.packages.package import Manifest, Package
from registry.packages.read_package import read_upload


def read(front: str, body: str = "# T\n\nText.\n", **more: Any) -> Package:
    return read_upload(f"---\n{front.strip()}\n---\n{body}".encode(), **more)


def manifest(front: str) -> Manifest:
    return read(f"name: x\ndescription: y\n{front}").manifest


def problems(front: str) -> list[tuple[str, int | None]]:
    return [(one.code, one.line) for one in read(f"name: x\ndescription: y\n{front}").problems]
