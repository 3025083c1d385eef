"""A version's dependencies by page, API and command: who sees what, and who may try again."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.utils import timezone

from portal.pages.skill.presenters.dependencies import dependency_status
from registry.identity.actors import Actor
from registry.identity.permissions import Action, may
from registry.models import AuditEntry, Token
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from tests.api.conftest import assert_error
from tests.checks import not_none
from tests.pages import actions, codes, messages, part, parts
from worker.dependencies import queue
from worker.dependencies.errors import DEPENDENCIES_FAILED
from worker.models import DependencyBuild

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db]
PAGE = "/skills/docs/needy/1.0.0/"
API = "/api/v1/skills/docs/needy/versions/1.0.0/dependencies"


@pytest.fixture
def needy(team, alice):
    head = b"---\nname: needy\ndescription: For tests.\nversion: 1.0.0\nruntime: media\n---\n# Needy\n"
    files = [("SKILL.md", head), ("scripts/needy.py", b"import six\n"), ("requirements.txt", b"six>=1\n")]
    return publish(read_files(files), team=team, actor=Actor(user=alice), visibility="public").version


@pytest.fixture
def failed(needy):
    hold = not_none(queue.claim_next(timezone.now()))
    hold.append_log("ERROR: <b>no</b> matching distribution\n")
    hold.fail(DEPENDENCIES_FAILED.problem(reason="no matching distribution"))
    return needy


def test_the_page_says_that_it_is_preparing_and_looks_again(needy, browse, alice):
    page = browse(alice).get(PAGE).content.decode()
    assert 'id="dependencies-title"' in page
    assert 'hx-get="/skills/docs/needy/1.0.0/dependencies/"' in page
    assert parts(page, "runs-wait")
    assert part(page, "runtime", value="media")["state"] == "unknown"
    assert states(browse(alice).get(PAGE + "dependencies/")) == ["queued"]


def states(page):
    return [state for row in parts(page, "build") for state in row.values("state")]


def test_the_page_lists_what_was_installed(needy, browse):
    hold = not_none(queue.claim_next(timezone.now()))
    hold.succeed(queue.BuildResult("", (queue.InstalledPackage("six", "1.17.0", "ab" * 32),), "", 4096))
    page = browse().get(PAGE).content.decode()
    assert states(page) == ["ready"]
    assert "six" in page
    assert "ab" * 32 in page
    assert "hx-get" not in page.partition('id="dependencies"')[2].partition(">")[0]


def test_the_page_says_what_becomes_of_what_was_swept(needy, browse):
    DependencyBuild.objects.update(state="unused")
    page = browse().get(PAGE).content.decode()
    assert states(page) == ["unused"]
    assert "retry" not in actions(page)


def test_what_is_ready_for_one_sort_of_machine_is_not_waited_for_on_another(needy, browse, alice):
    row = DependencyBuild.objects.create(key="b", kind="python", platform="another", spec="{}", state="ready")
    row.versions.add(needy)
    assert browse(alice).get(API).json()["state"] == "ready"
    row.kind = "node"
    row.save()
    assert browse(alice).get(API).json()["state"] == "building", "Python packages are of no machine's"


def test_what_failed_shows_why_with_its_log_to_the_team_and_a_button_to_maintainers(
    failed, browse, alice, charlie
):
    page = browse(alice).get(PAGE).content.decode()
    assert "DEPENDENCIES_FAILED" in page
    assert "&lt;b&gt;no&lt;/b&gt; matching" in page
    assert "retry" in actions(page)
    stranger = browse(charlie).get(PAGE).content.decode()
    assert "DEPENDENCIES_FAILED" in stranger
    assert "&lt;b&gt;no" not in stranger
    assert "dependencies/retry/" not in stranger


def test_a_maintainer_has_it_tried_again_and_nobody_else(failed, browse, alice, charlie):
    answer = browse(charlie).post(PAGE + "dependencies/retry/", follow=True)
    assert DependencyBuild.objects.get().state == "failed"
    assert answer.status_code == 200
    page = browse(alice).post(PAGE + "dependencies/retry/", follow=True)
    assert messages(page) == ["success"]
    assert DependencyBuild.objects.get().state == "waiting"
    assert (
        AuditEntry.objects.filter(action="version.build_dependencies", target="docs/needy@1.0.0").count() == 1
    )


def test_maintainer_cancels_a_build(needy, browse, alice, bob, charlie):
    assert "cancel-build" in actions(browse(alice).get(PAGE))
    for user in (bob, charlie):
        assert "cancel-build" not in actions(browse(user).get(PAGE))
        browse(user).post(PAGE + "dependencies/cancel/")
        assert browse(user).post(f"{API}/cancel").status_code == 403
    assert DependencyBuild.objects.get().state == "waiting"
    page = browse(alice).post(PAGE + "dependencies/cancel/", follow=True)
    assert messages(page) == ["success"]
    assert "DEPENDENCIES_CANCELLED" in codes(page)
    assert "retry" in actions(page)
    assert "cancel-build" not in actions(page)


def test_api_and_command_cancel_a_build(needy, browse, alice, capsys):
    key = {"Idempotency-Key": "a"}
    for _ in range(2):
        answer = browse(alice).post(f"{API}/cancel", "{}", "application/json", headers=key)
        (build,) = answer.json()["builds"]
        assert (build["state"], build["problem"]["code"]) == ("failed", "DEPENDENCIES_CANCELLED")
    call_command("api", "POST", API)
    assert '"building"' in capsys.readouterr().out
    call_command("api", "POST", f"{API}/cancel")
    assert "DEPENDENCIES_CANCELLED" in capsys.readouterr().out


def test_the_api_tells_the_same_and_tries_again(failed, browse, alice, charlie):
    document = browse(alice).get(API).json()
    (row,) = document["builds"]
    assert (document["state"], row["state"], row["problem"]["code"]) == (
        "failed",
        "failed",
        "DEPENDENCIES_FAILED",
    )
    assert "<b>no</b>" in row["log"]
    assert browse(charlie).get(API).json()["builds"][0]["log"] == ""
    assert browse(charlie).post(API).status_code == 403
    assert browse(alice).post(API, headers={"origin": "http://testserver"}).json()["state"] == "building"


def test_repeated_request_builds_once(failed, browse, alice):
    key = {"Idempotency-Key": "again"}
    assert browse(alice).post(API, "{}", "application/json", headers=key).json()["state"] == "building"
    browse(alice).post(f"{API}/cancel", "{}", "application/json")
    answer = browse(alice).post(API, "{}", "application/json", headers=key)
    assert answer["Idempotency-Replayed"] == "true"
    assert DependencyBuild.objects.get().state == "failed"


@pytest.mark.parametrize(("scope", "may_retry"), [("publish", True), ("settings", False)])
def test_retry_is_offered_to_actors_that_may_build(failed, alice, scope, may_retry):
    """The button follows the rule of the endpoint."""
    actor = Actor(user=alice, token=Token(owner=alice), scopes=frozenset({scope}))
    status = not_none(dependency_status(failed, actor))
    assert (status["may_retry"], may(actor, Action.RELEASE, skill=failed.skill)) == (may_retry, may_retry)


def test_a_version_without_dependencies_has_none(public, browse, alice):
    number = public.versions.get().number
    address = f"/api/v1/skills/docs/{public.slug}/versions/{number}/dependencies"
    runtime = {"name": "", "origin": "", "chosen_by": None}
    expected = {"version": number, "state": "none", "runtime": runtime, "builds": []}
    assert browse(alice).get(address).json() == expected
    assert_error(browse(alice).post(address), 409, "PREPARATION_NONE")
    assert (
        'id="dependencies"' not in browse(alice).get(f"/skills/docs/{public.slug}/{number}/").content.decode()
    )


def test_a_private_one_is_nothing_to_a_stranger(needy, browse, charlie):
    needy.skill.visibility = "private"
    needy.skill.save(update_fields=["visibility"])
    assert browse(charlie).get(API).status_code == 404
    assert browse(charlie).get(PAGE + "dependencies/").status_code == 404


def test_command_builds_in_this_process_and_fails_where_the_build_does(failed, capsys):
    with pytest.raises(SystemExit):
        call_command("build_dependencies", "docs/needy@1.0.0", "--json")  # there is no index here
    document = json.loads(capsys.readouterr().out)
    (row,) = document["builds"]
    assert (document["state"], row["problem"]["code"]) == ("failed", "DEPENDENCIES_DISABLED")
    with pytest.raises(SystemExit):
        call_command("build_dependencies", "docs/needy@1.0.0")
    out = capsys.readouterr().out
    assert "DEPENDENCIES_DISABLED" in out
    assert "SKILLQUAY_PYTHON_INDEX" in out


def test_check_package_lists_what_is_asked_for(tmp_path, capsys):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "a.py").write_text("import six\n")
    (tmp_path / "requirements.txt").write_text("Six>=1\n")
    (tmp_path / "SKILL.md").write_text("---\nname: a\ndescription: For tests.\n---\n# A\n")
    call_command("check_package", str(tmp_path), "--json")
    (package,) = json.loads(capsys.readouterr().out)["packages"]
    assert package["dependencies"] == [{"kind": "python", "requirement": "six>=1"}]
