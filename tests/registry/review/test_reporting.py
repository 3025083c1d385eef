"""People report a version: who may, who decides, and what others are offered meanwhile."""

from __future__ import annotations

import pytest

from registry.canonical import pins
from registry.erasure import people
from registry.erasure.export import export_person
from registry.identity.actors import ANONYMOUS, Actor
from registry.listing import load
from registry.listing.list_skills import list_skills
from registry.lookup import skills as catalog
from registry.matching.match import MatchQuery, match
from registry.models import AuditEntry, Membership, Role, Scope, Skill, Team, Token
from registry.review import findings
from registry.review import reports as reporting
from registry.search.facets import facets
from registry.search.query import Filters, search
from registry.versions.lifecycle import yank as publishing_yank
from registry.versions.publishing import publish as publishing_publish
from tests.refusing import code

pytestmark = [pytest.mark.django_db, pytest.mark.row("E1", "D7", "P4", "C4", "P2")]


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def mate(bob):
    return Actor(user=bob)


@pytest.fixture
def dora(django_user_model):
    return Actor(user=django_user_model.objects.create_user("dora"))


@pytest.fixture
def version(publish_skill, root):
    made = publish_skill(visibility="public", description="Draws harbour charts.")
    Skill.objects.filter(pk=made.skill.pk).update(is_bundled=True)
    return catalog.find_version_by_label("docs/report@1.0.0", root)


def harm(version, *actors):
    return [
        reporting.report_version(version, actor, reason="malicious", text="It sends files.")
        for actor in actors
    ]


def is_told(actor):
    """Whether search, match, facets, listing and loading by name know of it, which they do together."""
    again = Actor(user=actor.user)
    said = {
        bool(search("harbour charts", again).hits),
        bool(search("docs/report", again).hits),
        bool(search("harbuor", again).hits or search("report", again).hits),
        bool(match(MatchQuery("harbour charts"), again).rows),
        bool(facets("", Filters(), again)["team"]),
        bool(list_skills(again).rows),
        bool(load.skills_list(again).skills),
    }
    assert len(said) == 1, said
    return said.pop()


def test_one_persons_word_is_kept_and_hides_nothing(version, stranger, dora):
    (row,) = harm(version, stranger)
    assert (row.state, row.by_reviewer, is_told(dora), is_told(ANONYMOUS)) == ("open", False, True, True)


def test_two_people_or_one_reviewer_keep_it_to_its_team(version, stranger, dora, owner):
    harm(version, stranger, dora)
    assert not is_told(stranger)
    assert not is_told(ANONYMOUS)
    assert is_told(owner)
    assert version.skill.versions.get().reported_at


@pytest.mark.parametrize("who", ["owner", "root"])
def test_a_reviewers_word_does_it_at_once(version, who, request, stranger):
    harm(version, request.getfixturevalue(who))
    assert not is_told(stranger)


def test_how_many_it_takes_is_the_sites_to_set(version, stranger, dora, settings, owner):
    settings.SKILLQUAY_REPORTS_TO_HIDE = 0
    harm(version, stranger, dora)
    assert is_told(ANONYMOUS)
    harm(version, owner)
    assert not is_told(ANONYMOUS)


@pytest.mark.parametrize("reason", ["broken", "rights", "spam", "other"])
def test_other_reasons_hide_nothing(version, root, reason):
    reporting.report_version(version, root, reason=reason, text="So.")
    assert is_told(ANONYMOUS)


def test_its_full_name_still_leads_to_it_with_a_notice(version, stranger, dora):
    harm(version, stranger, dora)
    found = catalog.find_version_by_label("docs/report", stranger)
    assert [each.code for each in catalog.notices(found, stranger)] == ["VERSION_REPORTED"]
    assert load.skills_load("docs/report", stranger).version == found
    assert code(load.skills_load, "report", stranger) == "LOAD_NOT_FOUND"


def test_dismissed_it_is_offered_again(version, stranger, dora, root):
    for row in harm(version, stranger, dora):
        reporting.dismiss_report(row, root, reason="The host is named.")
    assert is_told(ANONYMOUS)
    assert code(harm, version, stranger) == "REPORT_DECIDED"
    assert not reporting.list_open_reports(root)


def test_upheld_it_is_held_until_a_reviewer_releases_it(version, stranger, root, mate):
    (row,) = harm(version, stranger)
    decided = reporting.uphold_report(row, root, reason="It does.")
    assert (decided.state, decided.version.is_held) == ("upheld", True)
    assert code(catalog.find_version_by_label, "docs/report", stranger) in ("NOT_FOUND", "NO_LATEST")
    rescanned = findings.rescan(version, root)
    assert rescanned is not None
    assert not rescanned.freed
    findings.release(version, root, reason="Mended elsewhere.")
    assert is_told(ANONYMOUS)


def test_what_follows_a_harmful_version_waits_for_a_reviewer_too(
    version, stranger, root, publish_skill, owner
):
    (row,) = harm(version, stranger)
    reporting.uphold_report(row, root, reason="It does.")
    following = publish_skill(version="1.0.1", visibility="public", description="Draws harbour charts.")
    assert following.is_held
    assert not is_told(ANONYMOUS)
    assert code(catalog.find_version_by_label, "docs/report@1.0.1", stranger) == "NOT_FOUND"
    assert following in findings.list_held_versions(root)
    assert code(findings.release, following, owner, reason="Mine.") == "RELEASE_OWN"
    again = findings.rescan(following, root)
    assert again is not None
    assert not again.freed
    findings.release(following, root, reason="Read: the host is gone.")
    assert is_told(ANONYMOUS)
    assert not publish_skill(version="1.0.2", visibility="public").is_held


def test_its_publisher_is_told_why_it_waits(version, stranger, root, owner, package_of):
    reasons = {"malicious": ["REPORT_HOLDS"], "broken": []}
    for reason, told in reversed(reasons.items()):
        row = reporting.report_version(version, stranger, reason=reason)
        reporting.uphold_report(row, root, reason="So it is.")
        package = package_of(version=f"2.0.{len(told)}", body=f"# {reason}")
        checked = publishing_publish.preview_publication(package, team=version.skill.team, actor=owner)
        done = publishing_publish.publish(package, team=version.skill.team, actor=owner)
        for problems in (checked.problems, done.problems):
            assert [each.code for each in problems if each.severity == "warning"] == told


def test_publishers_and_tokens_do_not_decide_and_readers_tokens_do_not_report(
    version, stranger, owner, mate, root, alice
):
    (row,) = harm(version, stranger)
    assert code(reporting.dismiss_report, row, owner, reason="No.") == "REPORT_OWN"
    assert code(reporting.dismiss_report, row, mate, reason="No.") == "FORBIDDEN"
    assert code(reporting.dismiss_report, row, stranger, reason="No.") == "FORBIDDEN"
    Membership.objects.filter(user=mate.user).update(role=Role.MAINTAINER)
    token = Actor(user=mate.user, token=Token(owner=mate.user), scopes=frozenset(Scope.values))
    assert code(reporting.dismiss_report, row, token, reason="No.") == "FORBIDDEN"
    reader = Actor(user=mate.user, token=Token(owner=mate.user), scopes=frozenset({Scope.READ, Scope.RUN}))
    assert code(reporting.report_version, version, reader, reason="spam") == "TOKEN_SCOPE_MISSING"
    assert reporting.dismiss_report(row, Actor(user=mate.user), reason="No.").state == "dismissed"
    assert code(reporting.dismiss_report, row, root, reason="No.") == "REPORT_DECIDED"


def test_a_stranger_learns_nothing_of_what_is_not_theirs_to_see(publish_skill, stranger, mate, version):
    hidden = publish_skill("hidden")
    assert code(reporting.report_version, hidden, stranger, reason="spam") == "NOT_FOUND"
    assert code(reporting.report_version, version, ANONYMOUS, reason="spam") == "FORBIDDEN"
    reporting.report_version(hidden, mate, reason="broken")
    assert not reporting.list_open_reports(stranger)
    assert code(reporting.list_reports, version, stranger) == "FORBIDDEN"


def test_once_a_person_and_only_so_many_a_day(version, publish_skill, stranger, settings):
    harm(version, stranger)
    assert code(harm, version, stranger) == "REPORT_OPEN"
    settings.SKILLQUAY_REPORTS_PER_DAY = 1
    assert code(harm, publish_skill("other", visibility="public"), stranger) == "REPORTS_TOO_MANY"


def test_it_says_what_is_wrong_in_one_line_of_plain_text(version, stranger):
    assert code(reporting.report_version, version, stranger, reason="other") == "TEXT_INVALID"


def test_those_who_review_see_what_waits(version, stranger, owner, mate, root):
    (row,) = harm(version, stranger)
    assert list(reporting.list_open_reports(owner)) == list(reporting.list_open_reports(root)) == [row]
    assert not reporting.list_open_reports(mate)
    actions = AuditEntry.objects.filter(target=str(version)).values_list("action", flat=True)
    assert "version.report" in actions


def test_list_of_reports_starts_with_open_ones_then_latest_decision(version, stranger, dora, mate, root):
    first, second = harm(version, stranger, dora)
    for row in (first, second):
        reporting.dismiss_report(row, root, reason="The host is named.")
    (third,) = harm(version, mate)
    assert list(reporting.list_reports(version, root)) == [third, second, first]


def test_what_is_published_meanwhile_waits_with_it(version, stranger, dora, publish_skill, root, owner):
    reports = harm(version, stranger, dora)
    publishing_yank.yank(version, owner, reason="Oops.")
    next_one = publish_skill(version="1.0.1", visibility="public", description="Draws harbour charts.")
    assert not is_told(ANONYMOUS)
    assert is_told(owner)
    found = catalog.find_version_by_label("docs/report@1.0.1", stranger)
    (notice,) = catalog.notices(found, stranger)
    assert (notice.code, notice.params["version"]) == ("VERSION_REPORTED", "docs/report@1.0.0")
    for row in reports:
        reporting.dismiss_report(row, root, reason="The host is named.")
    assert is_told(ANONYMOUS)
    assert not catalog.notices(catalog.find_version_by_label(str(next_one), stranger), stranger)


def test_what_was_published_before_is_judged_for_itself(version, stranger, dora, publish_skill):
    publish_skill(version="1.0.1", visibility="public", description="Draws harbour charts.")
    harm(version, stranger, dora)
    assert is_told(ANONYMOUS)
    publish_skill(version="1.0.2", visibility="public", description="Draws harbour charts.")
    assert is_told(ANONYMOUS)
    publishing_yank.yank(
        version.skill.versions.get(number="1.0.2"), Actor(user=version.published_by), reason="O."
    )
    publishing_yank.yank(
        version.skill.versions.get(number="1.0.1"), Actor(user=version.published_by), reason="O."
    )
    assert not is_told(ANONYMOUS)


def test_a_canonical_version_that_is_reported_is_offered_to_nobody_else(version, root, stranger, dora, owner):
    Skill.objects.update(is_bundled=False)
    pins.set_canonical("report", version, root, reason="Ours.")
    assert match(MatchQuery("harbour charts"), stranger).rows
    harm(version, stranger, dora)
    for asker in (stranger, ANONYMOUS):
        assert not match(MatchQuery("harbour charts"), asker).rows
        assert not list_skills(asker).rows
    assert match(MatchQuery("harbour charts"), Actor(user=owner.user)).rows


def test_a_reporter_who_is_erased_leaves_no_words(version, stranger, charlie, django_user_model):
    (row,) = harm(version, stranger)
    assert export_person(charlie, Actor(user=charlie))["reports"]
    Membership.objects.filter(user=charlie).delete()
    people.erase_person(charlie, Actor(user=charlie))
    row.refresh_from_db()
    assert (row.text, row.state) == ("", "open")


def test_the_changes_of_a_team_with_others_stay_its_own(version, stranger, dora):
    Team.objects.create(slug="third", name="Third")
    harm(version, stranger, dora)
    assert Skill.objects.get(pk=version.skill.pk).search_scope == f"team:{version.skill.team_id}"
