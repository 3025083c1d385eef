"""Secrets reach the runs that they were granted to, and stand in nothing that is kept of them."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.identity.actors import Actor
from registry.models import Membership, Role, Secret
from registry.packages.problems import Refusal
from registry.rules import decision as rules_decision
from registry.rules import edit
from registry.secrets import grants, reviews
from registry.secrets import values as secrets_values
from registry.storage import blobs
from worker.core.masking import Mask, MaskedOutput
from worker.models import Attempt, Run, Step
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("C6")]

VALUE = 'hunter2 "quoted" 密钥'
NEEDS = "security: {secrets: [API_KEY]}\n"
TELL = """
    import json, os, sys
    key = os.environ.get("API_KEY", "")
    os.makedirs("/job/output", exist_ok=True)
    open("/job/output/told.txt", "w").write("it is " + key)
    for character in key:
        sys.stderr.write(character); sys.stderr.flush()
    print(json.dumps({"length": len(key), "key": key, "reversed": key[::-1]}))
"""


@pytest.fixture
def owner(alice):
    return Actor(user=alice)


@pytest.fixture
def kept(team, owner):
    return secrets_values.put_secret(team, "API_KEY", VALUE, owner)


@pytest.fixture
def needing(publish_skill):
    return publish_skill("needing", TELL, front=NEEDS)


def _code(verb):
    with pytest.raises(Refusal) as refused:
        verb()
    return refused.value.code


def test_a_run_gets_what_was_granted_and_nothing_that_is_kept_shows_it(needing, kept, queue_run, owner):
    grants.grant(kept, needing, owner)
    run = execute_here(queue_run(needing))
    document = run_document(run, actor=owner)
    assert document["outputs"] == {"length": len(VALUE), "key": "***", "reversed": VALUE[::-1]}
    assert document["stderr"] == "***"
    assert blobs.read(run.artifacts.get().digest) == b"it is ***"
    for text in (VALUE, json.dumps(VALUE)[1:-1]):
        assert text not in json.dumps(document, ensure_ascii=False)
        assert text not in json.dumps(
            Run.objects.filter(pk=run.pk).values()[0], default=str, ensure_ascii=False
        )


def test_cause_of_a_failure_has_its_secrets_masked(publish_skill, kept, queue_run, owner):
    script = "import os\nraise ValueError('bad key ' + os.environ['API_KEY'])\n"
    version = publish_skill("leaking", script, front=NEEDS)
    grants.grant(kept, version, owner)
    run = execute_here(queue_run(version))
    assert (run.cause["type"], run.cause["message"]) == ("ValueError", "bad key ***")


def test_names_of_files_and_hosts_that_a_script_makes_of_a_secret_are_kept_without_it(
    publish_skill, kept, team, queue_run, owner
):
    secrets_values.put_secret(team, "API_KEY", "hunter2abc", owner)
    script = """
        import os, urllib.request
        key = os.environ["API_KEY"]
        os.makedirs("/job/output/of-" + key)
        for name in ("of-" + key + "/a.txt", "of-***.txt", "of-" + key + ".txt"):
            open("/job/output/" + name, "w").write(name)
        os.symlink("/etc/passwd", "/job/output/leads-" + key)
        try:
            urllib.request.urlopen("http://" + key + ".example.org/")
        except OSError as error:
            print(error)
    """
    front = "security: {secrets: [API_KEY], network: allowlist, network_allowlist: [api.example.org]}\n"
    version = publish_skill("telling", script, front=front)
    grants.grant(kept, version, owner)
    run = execute_here(queue_run(version))
    assert run.status == "succeeded", run.message
    assert [row.path for row in run.artifacts.order_by("path")] == ["of-***.txt", "of-***/a.txt"]
    assert [dial["host"] for dial in Attempt.objects.get(run=run).network] == ["***.example.org"]
    told = [each for each in run.result["warnings"] if "not collected" in each]
    assert len(told) == 2, told
    assert "hunter2abc" not in json.dumps(Run.objects.filter(pk=run.pk).values()[0], default=str)


@pytest.mark.django_db(transaction=True)  # the channel of child runs is a thread
def test_a_step_that_asks_for_a_skill_of_a_secret_s_name_is_kept_without_it(
    publish_skill, kept, team, queue_run, owner
):
    kept = secrets_values.put_secret(team, "API_KEY", "hunter2abc", owner)
    script = """
        import os, subprocess
        asks = [os.environ["SKILLQUAY_RUN"], "docs/" + os.environ["API_KEY"], "{}"]
        subprocess.run(asks, close_fds=False)
    """
    version = publish_skill(
        "asking", script, front="requires: [docs/other]\nsecurity: {secrets: [API_KEY]}\n"
    )
    grants.grant(kept, version, owner)
    run = execute_here(queue_run(version))
    step = Step.objects.get(run=run, kind="child")
    assert (step.name, step.error["name"]) == ("docs/***", "CHILD_NOT_REQUIRED")
    assert "hunter2abc" not in json.dumps([step.input, step.error])


def test_what_is_not_set_or_not_granted_is_refused_before_it_runs(needing, queue_run, team, owner):
    assert _code(lambda: queue_run(needing)) == "SECRET_NOT_SET"
    kept = secrets_values.put_secret(team, "API_KEY", VALUE, owner)
    assert _code(lambda: queue_run(needing)) == "SECRET_NOT_GRANTED"
    grants.grant(kept, needing, owner)
    assert queue_run(needing).status == "queued"


def test_a_grant_for_a_version_is_not_for_the_next(needing, kept, queue_run, owner, publish_skill):
    grants.grant(kept, needing, owner)
    later = publish_skill("needing", TELL + "\n    # changed", front=NEEDS, number="1.0.1")
    assert _code(lambda: queue_run(later)) == "SECRET_NOT_GRANTED"


def test_reviewed_versions_are_those_that_somebody_else_of_the_team_read(
    needing, kept, queue_run, owner, bob, team
):
    grants.grant(kept, needing, owner, to="reviewed")
    assert _code(lambda: queue_run(needing)) == "SECRET_NOT_GRANTED"
    assert _code(lambda: reviews.review(needing, team, owner)) == "REVIEW_OWN"
    assert _code(lambda: reviews.review(needing, team, Actor(user=bob))) == "FORBIDDEN"
    Membership.objects.filter(user=bob).update(role=Role.MAINTAINER)
    reviews.review(needing, team, Actor(user=bob))
    run = queue_run(needing)
    reviews.withdraw_review(needing, team, Actor(user=bob))
    assert execute_here(run).failure_code == "SECRET_NOT_GRANTED", "it was still to begin"


def test_what_is_revoked_while_a_run_waits_is_not_given(needing, kept, queue_run, owner, team):
    granted = grants.grant(kept, needing, owner)
    run = queue_run(needing)
    grants.revoke(granted.uid, team, owner)
    ended = execute_here(run)
    assert (ended.status, ended.failure_code) == ("failed", "SECRET_NOT_GRANTED")


def test_another_teams_run_has_its_own_secrets_or_none(publish_skill, kept, queue_run, owner, charlie):
    version = publish_skill("needing", TELL, front=NEEDS, visibility="site")
    grants.grant(kept, version, owner)
    assert _code(lambda: queue_run(version, by=charlie)) == "SECRET_NOT_SET"


def test_a_script_that_names_no_secret_gets_none(publish_skill, kept, queue_run, owner):
    version = publish_skill("plain", TELL)
    assert _code(lambda: grants.grant(kept, version, owner)) == "SECRET_NOT_DECLARED"
    assert execute_here(queue_run(version)).result["outputs"]["length"] == 0


def test_a_value_lies_sealed_and_opens_in_its_place_alone(kept, needing, queue_run, owner, team):
    assert VALUE not in kept.sealed
    other = secrets_values.put_secret(team, "OTHER", "other value", owner)
    grants.grant(kept, needing, owner)
    Secret.objects.filter(pk=kept.pk).update(sealed=other.sealed)
    assert execute_here(queue_run(needing)).failure_code == "SECRET_SEALED"


def test_values_outlive_a_new_key_and_are_lost_without_the_old(kept, needing, queue_run, owner, settings):
    from registry.secrets.values import reseal

    grants.grant(kept, needing, owner)
    old = settings.SKILLQUAY_SECRETS_KEYS
    settings.SKILLQUAY_SECRETS_KEYS = ["new", *old]
    assert reseal() == 1
    settings.SKILLQUAY_SECRETS_KEYS = ["new"]
    assert execute_here(queue_run(needing)).status == "succeeded"
    settings.SKILLQUAY_SECRETS_KEYS = old
    assert execute_here(queue_run(needing)).failure_code == "SECRET_SEALED"


def test_django_s_key_opens_none(kept, settings):
    from registry.secrets.encryption import unseal

    settings.SKILLQUAY_SECRETS_KEYS = [settings.SECRET_KEY]
    assert _code(lambda: unseal(kept.sealed, team=kept.team.uid, name=kept.name)) == "SECRET_SEALED"


def test_a_token_and_a_member_neither_set_nor_grant(needing, kept, alice, bob, team):
    from datetime import timedelta

    from django.utils import timezone

    from registry.identity import tokens

    ends = timezone.now() + timedelta(days=1)
    _row, secret = tokens.issue(
        alice, name="t", scopes=["read", "run", "publish"], expires_at=ends, by=Actor(user=alice)
    )
    agent, member = tokens.actor_of(secret), Actor(user=bob)
    for who in (agent, member):
        assert _code(lambda who=who: secrets_values.put_secret(team, "API_KEY", "x", who)) == "FORBIDDEN"
        assert _code(lambda who=who: grants.grant(kept, needing, who)) == "FORBIDDEN"
        assert _code(lambda who=who: secrets_values.remove_secret(kept, who)) == "FORBIDDEN"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "lower",
        "1ST",
        "A-B",
        "A" * 65,
        "LD_PRELOAD",
        "PYTHONPATH",
        "PATH",
        "HTTP_PROXY",
        "NODE_OPTIONS",
        "SKILLQUAY_REQUEST_FDS",
    ],
)
def test_a_name_that_would_change_the_sandbox_is_none(team, owner, name):
    assert _code(lambda: secrets_values.put_secret(team, name, "x", owner)) == "SECRET_NAME_INVALID"


@pytest.mark.parametrize("value", ["", "a\0b", "x" * 40_000, "\ud800"])
def test_a_value_is_text_of_a_bounded_size(team, owner, value):
    assert _code(lambda: secrets_values.put_secret(team, "API_KEY", value, owner)) == "SECRET_VALUE_INVALID"


def test_a_version_that_names_one_more_secret_asks_again(needing, publish_skill, owner, team):
    edit.add_rule(team, "allow", "docs/needing", owner)
    assert rules_decision.decide(needing, team=team).outcome == "allow"
    later = publish_skill("needing", TELL, front="security: {secrets: [API_KEY, OTHER]}\n", number="1.1.0")
    decision = rules_decision.decide(later, team=team)
    assert (decision.outcome, decision.added_permissions.document()["secrets"]) == ("ask", ["OTHER"])


class TestMask:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_a_secret_in_pieces_is_found_wherever_it_is_cut(self, data):
        value = data.draw(st.text(alphabet="ab密", min_size=4, max_size=12))
        around = st.text(alphabet="ab密", max_size=20)
        said = (data.draw(around) + value + data.draw(around)).encode()
        cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=6)))
        heard = []
        output = MaskedOutput(Mask([value]), lambda stream, piece: heard.append(piece))
        for start, end in zip([0, *cuts], [*cuts, len(said)], strict=True):
            output("stdout", said[start:end])
        output.close()
        assert b"".join(heard) == Mask([value]).mask(said)
        assert value.encode() not in b"".join(heard)

    def test_streams_do_not_mix_and_nothing_waits_for_ever(self):
        heard = []
        output = MaskedOutput(Mask(["secret"]), lambda *piece: heard.append(piece))
        output("stdout", b"sec")
        output("stderr", b"ret")
        assert heard == [("stderr", b"ret")]
        output.close()
        assert heard[-1] == ("stdout", b"sec")

    def test_lines_of_a_key_and_other_ways_to_write_it(self):
        key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nsecond&line=/?\n-----END KEY-----\n"
        for said in ("MIIEpAIBAAKCAQEA", "second%26line%3D%2F%3F", json.dumps(key)):
            assert b"***" in Mask([key]).mask(said.encode())

    @pytest.mark.parametrize(
        "write",
        [
            lambda text: base64.b64encode(text.encode()),
            lambda text: base64.b64encode(f"{text}\n".encode()),
            lambda text: base64.b64encode(f"user:{text}".encode()),
            lambda text: base64.b64encode(f"ab{text}:x".encode()),
            lambda text: base64.urlsafe_b64encode(f"a{text}".encode()),
            lambda text: text.encode().hex().encode(),
            lambda text: json.dumps(json.dumps({"key": text})).encode(),
            lambda text: json.dumps(
                json.dumps({"key": text}, ensure_ascii=False), ensure_ascii=False
            ).encode(),
            lambda text: json.dumps(text).replace("/", "\\/").encode(),
            lambda text: json.dumps(text).translate({ord(c): f"\\u{ord(c):04x}" for c in "<&>"}).encode(),
            lambda text: repr({"key": text}).encode(),
            lambda text: html.escape(text).encode(),
            lambda text: urlencode({"key": text}).encode(),
            lambda text: f"https://host.example/{quote(text)}".encode(),
        ],
    )
    def test_other_ways_to_write_a_password(self, write):
        said = write(VALUE + "/+<&>?")
        assert b"***" in Mask([VALUE + "/+<&>?"]).mask(said), said

    def test_without_secrets_nothing_changes(self):
        assert not Mask()
        assert Mask().mask(b"abc") == b"abc"
        assert not Mask(["abc"]), "too short to be told from words"
