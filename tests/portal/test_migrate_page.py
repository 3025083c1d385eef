import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from registry.models import Version
from tests.factories.archives import zip_of
from tests.factories.old_packages import METADATA, OLD
from tests.pages import part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("C14")]


def _post(client, button="check", **values):
    return client.post("/publish/", {"team": "docs", button: "1", **values})


def _zip(**files):
    return SimpleUploadedFile("old.zip", zip_of({"SKILL.md": OLD, "METADATA.yml": METADATA, **files}))


def test_an_old_package_is_offered_to_be_migrated_with_the_diff(browse, bob):
    client = browse(bob)
    page = _post(client, archive=_zip())
    migration = part(page, "migration")
    assert "+++ b/scripts/execute.ts" in part(migration, "difference")
    assert any("scripts/execute.ts" in change for change in parts(migration, "change"))
    assert "migrate" in [button["name"] for button in migration.tags("button")]
    assert parts(page, "kept") == []  # as it is, the package cannot be published
    assert not Version.objects.exists()
    kept = page.context["stored"].uid
    page = _post(client, "migrate", upload_id=kept)
    assert part(page, "preview")["state"] == "ready"
    assert not Version.objects.exists()  # its author sees the result before it is published
    assert _post(client, "publish", upload_id=page.context["stored"].uid).status_code == 302
    version = Version.objects.get()
    assert (version.profile, str(version.skill)) == ("apexbridge", "docs/old-one")
    assert set(version.files.values_list("path", flat=True)) == {
        "SKILL.md",
        "METADATA.yml.legacy",
        "scripts/execute.ts",
    }


def test_nothing_is_offered_that_would_not_help(browse, bob):
    client = browse(bob)
    for files in (
        {"tool.py": b"print(1)"},
        {"SKILL.md": "---\nname: a\ndescription: b\n---\nText.\n", "METADATA.yml": ""},
    ):
        assert 'name="migrate"' not in _post(client, archive=_zip(**files)).content.decode()
