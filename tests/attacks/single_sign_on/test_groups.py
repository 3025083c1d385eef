"""Groups of an issuer: wrong types and more rights than the map gives."""

from __future__ import annotations

import pytest
from django.test import Client

from registry.models import AuditEntry, Membership, Team, User
from tests.attacks.single_sign_on.browser import refused, sign_in, signed_in_name

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2")]


@pytest.mark.parametrize("groups", [{"leads": 1}, 7, None, [["leads"]], [1]])
def test_groups_of_a_wrong_type_are_refused(issuer, configure, team, groups):
    configure(groups=(("leads", "docs", "owner"),))
    issuer.claims["groups"] = groups
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_groups_that_were_left_out_are_refused(issuer, configure, team):
    configure(groups=(("leads", "docs", "owner"),))
    issuer.claims["_claim_names"] = {"groups": "src1"}
    client = Client()
    assert refused(client, sign_in(client, issuer), "IDENTITY_INVALID")


def test_group_gives_no_role_in_other_teams(issuer, configure, team, charlie):
    configure(groups=(("leads", "docs", "member"),))
    issuer.claims["groups"] = ["leads", "elsewhere", "leads=elsewhere:owner", "*"]
    sign_in(Client(), issuer)
    roles = Membership.objects.filter(user__username="mei").values_list("team__slug", "role")
    assert list(roles) == [("docs", "member")]
    assert not User.objects.get(username="mei").is_superuser


def test_groups_without_a_map_change_nothing(issuer, team):
    issuer.claims["groups"] = ["docs", "administrators", ""]
    sign_in(Client(), issuer)
    assert not Membership.objects.filter(user__username="mei").exists()
    assert not User.objects.get(username="mei").is_superuser


def test_last_owner_and_last_administrator_stay_and_it_is_recorded(issuer, configure, team):
    configure(groups=(("leads", "docs", "owner"),), administrator_group="admins")
    issuer.claims["groups"] = ["leads", "admins"]
    sign_in(Client(), issuer)
    issuer.claims["groups"] = []
    sign_in(Client(), issuer)
    user = User.objects.get(username="mei")
    assert (user.is_superuser, Membership.objects.get(user=user).role) == (True, "owner")
    kept = AuditEntry.objects.filter(action__contains="keep").values_list("action", flat=True)
    assert set(kept) == {"member.keep", "user.keep_administrator"}


def test_team_of_the_map_that_does_not_exist_is_skipped(issuer, configure):
    configure(groups=(("leads", "nowhere", "owner"),))
    issuer.claims["groups"] = ["leads"]
    client = Client()
    sign_in(client, issuer)
    assert signed_in_name(client) == "mei"
    assert not Team.objects.exists()
