"""The next version's number is set in SKILL.md without reading the edited package twice."""

from __future__ import annotations

import pytest

from registry.packages.archive.repack import repack
from registry.packages.authoring.edit import PackageEdits
from registry.packages.problems import Refusal
from registry.packages.read_package import read_package_files, read_upload
from registry.versions.content import edit
from registry.versions.content.edit import apply_edits
from tests.checks import not_none
from tests.factories.skills import publish_files, tidy_files

pytestmark = [pytest.mark.django_db, pytest.mark.row("P1", "P5")]
BODY = "---\n\n# Edited\n\n```yaml\nversion: 1.2.0\n```\n"


@pytest.fixture
def applied(team, alice, monkeypatch):
    """``applied(front)``: the package of an edited skill with this front matter, its text, the readings."""
    readings = []

    def read(files, **options):
        readings.append(files)
        return read_package_files(files, **options)

    def apply(front, replaced=("# Edited", "# Edited twice")):
        text = f"---\nname: edited\ndescription: Is edited.\n{front}{BODY}"
        version = publish_files({"SKILL.md": text.encode()}, team=team, user=alice)
        monkeypatch.setattr(edit, "read_package_files", read)
        edits = PackageEdits(texts=(("SKILL.md", text.replace(*replaced)),))
        edited = apply_edits(version, edits, "patch")
        return edited, not_none(edited.package.file("SKILL.md")).data.decode(), len(readings)

    return apply


@pytest.mark.parametrize(
    ("front", "changed"),
    [
        ("version: 1.2.0\n", "version: 1.2.1\n"),
        ("version:   '1.2.0'\n", "version:   '1.2.1'\n"),
        ('version: "1.2.0"  # 1.2.0 at first\n', 'version: "1.2.1"  # 1.2.0 at first\n'),
        ("version: v1.2\n", "version: 1.2.1\n"),
        ("metadata:\n  version: 1.2.0\n", "metadata:\n  version: 1.2.1\n"),
        ("config:\n  version: 1.2.0\nversion: 1.2.0\n", "config:\n  version: 1.2.0\nversion: 1.2.1\n"),
    ],
)
def test_raised_number_is_read_once(applied, front, changed):
    edited, text, readings = applied(front)
    assert f"{changed}---\n\n# Edited twice\n\n```yaml\nversion: 1.2.0\n```\n" in text
    assert (edited.package.manifest.version, edited.number, readings) == ("1.2.1", "", 1)
    assert read_upload(repack(edited.package.files)).manifest == edited.package.manifest


@pytest.mark.parametrize(
    "front",
    [
        "config:\n  version: 1.2.0\nmetadata: {version: 1.2.0}\n",
        "when_to_use: |\n  version: 1.2.0\n'version': 1.2.0\n",
        "config:\n  version: 1.2.0\nmetadata:\n  version: 1.2.0\n",
    ],
)
def test_only_the_version_field_is_raised(applied, front):
    edited, text, _readings = applied(front)
    assert edited.package.manifest.version == "1.2.1"
    assert (text.count("1.2.1"), text.count("1.2.0")) == (1, 2)
    assert "version: 1.2.0\n" in text[text.index("config" if "config" in front else "when") :]
    assert read_upload(repack(edited.package.files)).manifest == edited.package.manifest


@pytest.mark.parametrize("own", ["2.0.0", "1.2.1"])
def test_number_of_the_author_is_kept_with_the_same_text_elsewhere(applied, own):
    front = "config:\n  version: 1.2.0\nversion: 1.2.0\n"
    edited, text, _readings = applied(front, ("\nversion: 1.2.0\n---", f"\nversion: {own}\n---"))
    assert (edited.package.manifest.version, edited.number) == (own, "")
    assert f"config:\n  version: 1.2.0\nversion: {own}\n" in text


def test_number_is_chosen_if_skill_md_has_none(applied):
    edited, text, readings = applied("config:\n  version: 0.1.0\n")
    assert (edited.package.manifest.version, edited.number, readings) == (None, "0.1.1", 1)
    assert "version: 0.1.0" in text


def test_unchanged_files_keep_their_number(applied):
    edited, _text, readings = applied("version: 1.2.0\n", ("", ""))
    assert (edited.package.manifest.version, readings) == ("1.2.0", 1)


def test_missing_skill_md_is_refused(team, alice):
    version = publish_files(tidy_files(), team=team, user=alice)
    with pytest.raises(Refusal) as refused:
        apply_edits(version, PackageEdits(removed=frozenset({"SKILL.md"})), "patch")
    assert refused.value.code == "SKILL_MISSING"
