"""The command-line client as a file of the site."""

from __future__ import annotations

import pytest

from registry.facades.command_line import skillquay
from registry.packages.archive.repack import digest_of, repack
from registry.packages.package import PackageFile
from tests.registry.facades.conftest import get

pytestmark = pytest.mark.row("P7")


@pytest.mark.django_db
def test_file_contains_the_public_address_of_the_site(settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example.org"
    answer = get("/skillquay.py")
    assert answer["Content-Type"].startswith("text/x-python")
    assert b"SITE = 'https://skills.example.org'\n" in answer.getvalue()
    get("/skillquay.py", status=304, **{"If-None-Match": answer["ETag"]})


def test_digest_of_a_folder_is_that_of_the_archive(tmp_path):
    files = {"SKILL.md": b"# x\n", "a/b.py": b"print(1)\n", "a-b.txt": "文".encode(), "run.sh": b"echo\n"}
    for path, data in files.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
        file.chmod(0o755 if path == "run.sh" else 0o644)
    packed = repack(PackageFile(path, data, executable=path == "run.sh") for path, data in files.items())
    assert skillquay.folder_digest(tmp_path) == digest_of(packed)
