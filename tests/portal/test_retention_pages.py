"""The pages of retention policies: a policy is saved only after a preview of the same values."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from tests.factories.runs import make_past_run
from tests.pages import part, parts, select
from worker.models import Run
from worker.retention.policies import policy_of, set_policy

pytestmark = [pytest.mark.django_db, pytest.mark.row("P5")]


@pytest.mark.parametrize("address", ["/teams/docs/retention/", "/site/retention/"])
def test_policy_is_saved_after_its_preview(address, private, alice, client, administrator, team):
    version = private.latest
    which = team if "teams" in address else None
    for days in (40, 20):
        make_past_run(version, alice, team, days)
    client.force_login(administrator)
    assert not parts(client.get(address), "preview")
    page = client.post(address, {"succeeded_days": "30", "step": "save"})
    assert (part(page, "preview")["value"], policy_of(which).succeeded_days) == ("1", None)
    (hidden,) = select(page, "input", name="previewed")
    changed = {"succeeded_days": "10", "step": "save", "previewed": hidden.attributes["value"]}
    page = client.post(address, changed)  # other values than those of the preview
    assert (part(page, "preview")["value"], policy_of(which).succeeded_days) == ("2", None)
    (hidden,) = select(page, "input", name="previewed")
    assert client.post(address, changed | {"previewed": hidden.attributes["value"]}).status_code == 302
    assert (policy_of(which).succeeded_days, Run.objects.count()) == (10, 2)
    assert part(client.get(address), "rule", rule="succeeded_days")["value"] == "10"
    assert client.post(address, {"keep_last": "0", "step": "save"}).status_code == 422


def test_size_is_typed_and_shown_with_its_unit(client, administrator, team):
    client.force_login(administrator)
    set_policy(None, {"succeeded_days": 90}, Actor(user=administrator))
    address = "/teams/docs/retention/"
    page = client.post(address, {"artifact_bytes": "1.5 GB", "step": "save"})
    (hidden,) = select(page, "input", name="previewed")
    (typed,) = select(page, "input", name="artifact_bytes")
    assert typed.attributes["value"] == "1.5 GB"
    sent = {"artifact_bytes": "1.5 GB", "step": "save", "previewed": hidden.attributes["value"]}
    assert client.post(address, sent).status_code == 302
    assert policy_of(team).artifact_bytes == 1_500_000_000
    page = client.get(address)
    (shown,) = select(page, "input", name="artifact_bytes")
    (empty,) = select(page, "input", name="succeeded_days")
    assert empty.attributes["placeholder"] == "90"  # the site's value, which applies to an empty field
    assert shown.attributes["value"] == "1.5 GB"
    assert client.post(address, {"artifact_bytes": "much", "step": "save"}).status_code == 422


def test_members_see_the_policy_without_the_form(client, bob, charlie, team):
    client.force_login(bob)
    page = client.get("/teams/docs/retention/")
    assert parts(page, "rule")
    assert not parts(page, "set-retention")
    assert client.post("/teams/docs/retention/", {"step": "save", "previewed": ",,,,,,"}).status_code == 422
    assert client.get("/site/retention/").status_code == 404
    client.force_login(charlie)
    assert client.get("/teams/docs/retention/").status_code == 404
