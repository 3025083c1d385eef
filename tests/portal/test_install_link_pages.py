"""The page of install links: create, show once, revoke."""

from __future__ import annotations

import pytest

from registry.models import Token
from tests.pages import codes, messages, part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("P7")]
PAGE = "/account/install-links/"


def test_link_is_shown_once_and_can_be_revoked(browse, alice, private):
    client = browse(alice)
    assert 'value="docs/weekly-report"' in client.get(f"{PAGE}?target=docs/weekly-report").text
    made = client.post(PAGE, {"target": "docs/weekly-report", "days": "7"})
    command = part(made, "link-use", value="link-skills").text
    assert "npx skills add" in command
    assert "/docs/weekly-report" in command
    secret = command.partition("/c/")[2].partition("/")[0]
    later = client.get(PAGE)
    assert secret not in later.text
    row = part(later, "link")
    assert row["state"] == "active"
    done = client.post(f"{PAGE}{row['value']}/revoke/", follow=True)
    assert messages(done) == ["success"]
    assert part(done, "link")["state"] == "revoked"
    assert not parts(client.get("/account/tokens/"), "token")


def test_refused_target_stands_in_the_form(browse, charlie, private):
    for target, code in (("docs/weekly-report", "NOT_FOUND"), ("a/b/c/d", "INSTALL_LINK_TARGET")):
        page = browse(charlie).post(PAGE, {"target": target, "days": "7"})
        assert page.status_code == 422
        assert codes(part(page, "errors")) == [code]
    assert not Token.objects.exists()


def test_links_of_others_can_not_be_revoked(browse, alice, charlie, private):
    browse(alice).post(PAGE, {"target": "docs", "days": "7"})
    link = Token.objects.get()
    assert browse(charlie).post(f"{PAGE}{link.uid}/revoke/").status_code == 404
    link.refresh_from_db()
    assert link.revoked_at is None


def test_skill_page_leads_to_the_form(browse, alice, private):
    assert parts(browse(alice).get("/skills/docs/weekly-report/"), action="install-link")
