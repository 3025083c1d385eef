"""Reads of the clients' protocols are kept answers: none is outdated, and none was made for others."""

from __future__ import annotations

import base64
import random
import re
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from registry.batched_writes import flush
from registry.collections import edit
from registry.collections.edit import ChosenSkill
from registry.identity.actors import Actor
from registry.install_links.links import create_link, find_target
from registry.models import (
    CollectionItem,
    Membership,
    PinnedSkill,
    Redirect,
    Role,
    Skill,
    Team,
    Token,
    Use,
    Version,
)
from registry.storage import blobs
from tests.checks import not_none
from tests.factories.skills import prompt_files, publish_files, tidy_files
from tests.portal.test_kept_answers import _difference, bearer, changes, session

pytestmark = [pytest.mark.row("P7"), pytest.mark.row("P9")]
REPORT, REVIEW = "docs/weekly-report", "docs/kind-review"
INDEX = ".well-known/agent-skills/index.json"
CLAWHUB = "/clawhub/api/v1"
REFERENCES = "service=git-upload-pack"


@pytest.fixture
def skills(team, alice, charlie):
    """A private skill of Docs with two versions, a public one, one of another team, and a collection."""
    publish_files(tidy_files("1.0.0"), team=team, user=alice)
    publish_files(tidy_files("1.1.0"), team=team, user=alice)
    publish_files(prompt_files(), team=team, user=alice, visibility="public")
    publish_files(prompt_files(), team=Team.objects.get(slug="elsewhere"), user=charlie)
    chosen = [ChosenSkill(REPORT), ChosenSkill(REVIEW)]
    edit.create(team, "start", Actor(user=alice), chosen=chosen, visibility="public")
    return {skill.slug if skill.team.slug == "docs" else "other": skill for skill in Skill.objects.all()}


def reads(skills):
    """The addresses of each protocol, with their queries."""
    uid = f"skill_{skills['weekly-report'].uid}"
    return {
        "npm": [
            "/npm/@docs/weekly-report",
            "/npm/@docs/weekly-report/-/weekly-report-1.1.0.tgz",
            "/npm/@canonical/weekly-report",
        ],
        "index": [
            f"/{INDEX}",
            f"/docs/{INDEX}",
            f"/{REPORT}/{INDEX}",
            f"/{REPORT}/1.0.0/.well-known/skills/index.json",
            f"/skills/{REPORT}/{INDEX}",
            f"/canonical/weekly-report/{INDEX}",
            f"/collections/docs/start/{INDEX}",
            f"/{REPORT}/.well-known/skills/weekly-report/SKILL.md",
            f"/{REPORT}/.well-known/agent-skills/weekly-report.zip",
        ],
        "git": [
            f"/{REPORT}.git/info/refs?{REFERENCES}",
            f"/canonical/weekly-report.git/info/refs?{REFERENCES}",
            f"/docs/all.git/info/refs?{REFERENCES}",
            f"/collections/docs/start.git/info/refs?{REFERENCES}",
            "/marketplace.json",
            "/docs/marketplace.json",
            "/collections/docs/start/marketplace.json",
        ],
        "ClawHub": [
            f"{CLAWHUB}/skills",
            f"{CLAWHUB}/skills/weekly-report",
            f"{CLAWHUB}/skills/weekly-report/versions?ownerHandle=docs",
            f"{CLAWHUB}/skills/weekly-report/versions/1.0.0",
            f"{CLAWHUB}/skills/weekly-report/verify?ownerHandle=docs",
            f"{CLAWHUB}/skills/weekly-report/install",
            f"{CLAWHUB}/download?slug=weekly-report&ownerHandle=docs&tag=stable",
            f"{CLAWHUB}/skills/weekly-report/file?path=SKILL.md",
        ],
        "Anthropic": [
            "/anthropic/v1/skills",
            f"/anthropic/v1/skills/{uid}",
            f"/anthropic/v1/skills/{uid}/versions",
            f"/anthropic/v1/skills/{uid}/versions/1.0.0/content",
            "/anthropic/v1/skills/canonical_weekly-report",
        ],
        "OpenAI": [
            "/openai/v1/skills",
            f"/openai/v1/skills/{uid}",
            f"/openai/v1/skills/{uid}/versions",
            f"/openai/v1/skills/{uid}/content",
        ],
        "APM": [
            f"/apm/v1/packages/{REPORT}/versions",
            f"/apm/v1/packages/{REPORT}/versions/1.0.0/download",
        ],
    }


PROTOCOLS = ("npm", "index", "git", "ClawHub", "Anthropic", "OpenAI", "APM")


def read(processes, address, **more):
    path, _, query = address.partition("?")
    return processes.get(path, query=query, **more)


def as_key(client):
    return {"x_api_key": client["authorization"].removeprefix("Bearer ")}


def as_basic(client):
    pair = f"git:{client['authorization'].removeprefix('Bearer ')}"
    return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def more_changes(skills, team, alice, bob):
    """Changes that only other protocols show."""
    item = CollectionItem.objects.filter(skill=skills["weekly-report"])
    pin = {"user": bob, "skill": skills["weekly-report"]}

    def star():
        if not PinnedSkill.objects.filter(**pin).delete()[0]:
            PinnedSkill.objects.create(**pin)

    def publish():
        number = f"1.2.{Version.objects.count()}"
        publish_files(tidy_files(number), team=Team.objects.get(pk=team.pk), user=alice)

    def choose():
        first = Version.objects.filter(skill=skills["weekly-report"]).order_by("pk").first()
        item.update(pin=None if item.get().pin else first)

    def retitle():
        team.collections.update(slug="begin" if team.collections.filter(slug="start").exists() else "start")

    def namesake():
        rows = Skill.objects.filter(pk=skills["other"].pk)
        rows.update(visibility="private" if rows.filter(visibility="public") else "public")

    return {"star": star, "publish": publish, "choose": choose, "retitle": retitle, "namesake": namesake}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_second_read_is_answered_without_django_for_each_form_of_token(
    processes, skills, team, alice, bob, protocol
):
    Skill.objects.filter(slug="weekly-report").update(visibility="public")
    changes(skills, team, random.Random(1))["pin"]()
    changes(skills, team, random.Random(1))["channel"]()
    token = bearer(alice)
    for address in reads(skills)[protocol]:
        for client in ({}, token, as_key(token), as_basic(token)):
            first = read(processes, address, **client)
            assert first.status == 200, (address, first.body)
            calls = processes.calls
            again = read(processes, address, **client)
            assert (processes.calls, _difference(again, first)) == (calls, []), address
        vary = {name.strip().lower() for name in first.headers["vary"].split(",")}
        assert {"authorization", "x-api-key"} <= vary


# The changes that each read shows at its next request, for alice unless another client is named.
SHOWN = {
    "npm": (
        (
            "/npm/@docs/weekly-report",
            "publish yank hold purge channel rename revoke hide:anyone membership:bob",
        ),
        ("/npm/@docs/weekly-report/-/weekly-report-1.1.0.tgz", "purge move revoke hide:anyone"),
        ("/npm/@canonical/weekly-report", "pin"),
    ),
    "index": (
        (f"/{INDEX}", "publish hide:anyone release pin"),
        (f"/docs/{INDEX}", "publish hide:anyone purge merge"),
        (f"/{REPORT}/{INDEX}", "publish move revoke membership:bob"),
        (f"/{REPORT}/1.0.0/.well-known/skills/index.json", "hold"),
        (f"/canonical/weekly-report/{INDEX}", "pin"),
        (f"/collections/docs/start/{INDEX}", "choose retitle publish hide:anyone"),
    ),
    "git": (
        (f"/{REPORT}.git/info/refs?{REFERENCES}", "publish yank purge release hide:anyone membership:bob"),
        (f"/canonical/weekly-report.git/info/refs?{REFERENCES}", "pin"),
        (f"/docs/all.git/info/refs?{REFERENCES}", "publish hide:anyone"),
        (f"/collections/docs/start.git/info/refs?{REFERENCES}", "choose"),
        ("/marketplace.json", "publish hide:anyone"),
        ("/docs/marketplace.json", "publish"),
        ("/collections/docs/start/marketplace.json", "choose retitle"),
    ),
    "ClawHub": (
        (f"{CLAWHUB}/skills", "publish star hide:anyone"),
        (f"{CLAWHUB}/skills/weekly-report", "publish star channel hide:anyone membership:bob pin"),
        (f"{CLAWHUB}/skills/kind-review", "namesake:anyone"),
        (f"{CLAWHUB}/skills/weekly-report/versions?ownerHandle=docs", "publish yank hold"),
        (f"{CLAWHUB}/skills/weekly-report/versions/1.0.0", "hold purge"),
        (f"{CLAWHUB}/download?slug=weekly-report&ownerHandle=docs&tag=stable", "channel revoke"),
    ),
    "Anthropic": (
        ("/anthropic/v1/skills", "publish hide:anyone"),
        ("/anthropic/v1/skills/UID", "publish revoke membership:bob"),
        ("/anthropic/v1/skills/UID/versions", "publish yank"),
        ("/anthropic/v1/skills/UID/versions/1.0.0/content", "purge"),
    ),
    "OpenAI": (
        ("/openai/v1/skills", "publish hide:anyone"),
        ("/openai/v1/skills/UID", "publish purge merge membership:bob"),
        ("/openai/v1/skills/UID/content", "publish revoke"),
    ),
    "APM": (
        (f"/apm/v1/packages/{REPORT}/versions", "publish yank hold hide:anyone"),
        (f"/apm/v1/packages/{REPORT}/versions/stable/download", "channel revoke membership:bob"),
    ),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_next_read_shows_each_change(processes, skills, team, alice, bob, charlie, protocol):
    """Each change, and its undoing."""
    clients = {
        "": bearer(alice),
        "anyone": {},
        "bob": as_basic(bearer(bob)),
        "carol": as_key(bearer(charlie)),
    }
    writes = changes(skills, team, random.Random(2)) | more_changes(skills, team, alice, bob)
    writes["release"] = writes["release latest"]
    uid = f"skill_{skills['weekly-report'].uid}"
    for address, names in SHOWN[protocol]:
        address = address.replace("UID", uid)
        for name, client in (each.partition(":")[::2] for each in names.split()):
            for _ in range(2):
                before = read(processes, address, **clients[client])
                writes[name]()
                expected = read(processes, address, process=None, **clients[client])
                assert (expected.status, expected.body) != (before.status, before.body), (address, name)
                answer = read(processes, address, **clients[client])
                assert _difference(answer, expected) == [], (address, name)


def test_private_skill_is_kept_for_its_team_only(processes, skills, team, alice, bob, charlie):
    """Strangers get the answer for an absent skill, also after members and with their session."""
    owner, stranger = bearer(alice), bearer(charlie)
    absent = {"weekly-report": "weekly-repast", f"{skills['weekly-report'].uid}": "0" * 26}
    private = [
        each for group in reads(skills).values() for each in group if any(name in each for name in absent)
    ]
    others = ({}, stranger, as_key(stranger), as_basic(stranger), session(alice))
    for address in private:
        if "canonical" in address or "collections" in address:
            continue
        for client in (owner, as_key(owner), as_basic(owner), owner):
            assert read(processes, address, **client).status in (200, 404)  # there is no channel
        missing = address
        for name, other in absent.items():
            missing = missing.replace(name, other)
        for client in others:
            answers = [read(processes, each, **client) for each in (address, missing, address)]
            assert {answer.status for answer in answers} <= {401, 404}, address
            assert all(b"Summarise" not in answer.body for answer in answers)
            bodies = {re.sub(rb"weekly-rep(ort|ast)|[0-9a-z]{26}", b"", answer.body) for answer in answers}
            assert len(bodies) == 1, (address, bodies)


def test_credentials_of_the_api_and_of_other_protocols_are_kept_apart(processes, skills, alice):
    """The API refuses Basic and ignores X-Api-Key, and other protocols ignore sessions."""
    token, cookie = bearer(alice), session(alice)
    path = f"/api/v1/skills/{REPORT}"
    expected = ((as_basic(token), 401), (as_key(token), 404), (token, 200), (cookie, 200))
    for client, code in (*expected, *expected):
        read(processes, f"/npm/@{REPORT}", **client)
        assert read(processes, path, **client).status == code
        assert read(processes, path, **client).status == code
    for _ in range(2):
        assert read(processes, f"/npm/@{REPORT}", **cookie).status == 404
    own_key = {**token, **as_key(bearer(alice, scopes=["run"]))}  # Authorization comes first
    assert read(processes, f"/npm/@{REPORT}", **own_key).status == 200


def test_path_of_the_api_that_looks_like_another_protocol_is_not_kept_for_anonymous_clients(
    processes, team, alice
):
    files = tidy_files() | {"assets/marketplace.json": b"{}"}
    publish_files(files, team=team, user=alice)
    path, cookie = f"/api/v1/skills/{REPORT}/versions/latest/files/assets/marketplace.json", session(alice)
    for client, code in (({}, 404), (cookie, 200), ({}, 404), (cookie, 200)):
        assert read(processes, path, **client).status == code


def test_downloads_count_and_update_checks_and_304_do_not(processes, skills, alice, bob):
    first, second = bearer(alice), bearer(bob)
    uid = skills["weekly-report"].uid
    file = f"/{REPORT}/.well-known/skills/weekly-report/SKILL.md"
    downloads = [
        f"/npm/@{REPORT}/-/weekly-report-1.1.0.tgz",
        f"{CLAWHUB}/download?slug=weekly-report",
        f"/anthropic/v1/skills/skill_{uid}/versions/1.0.0/content",
        f"/openai/v1/skills/skill_{uid}/content",
        f"/apm/v1/packages/{REPORT}/versions/1.0.0/download",
        file,
    ]
    for address in downloads:
        etag = read(processes, address, **first).headers["etag"]
        flush()
        Use.objects.all().delete()
        calls = processes.calls
        assert read(processes, address, if_none_match=etag, **first).status == 304
        assert read(processes, address, method="HEAD", **first).status == 200
        flush()
        assert not Use.objects.exists(), address
        assert read(processes, address, **first).status == 200
        assert processes.calls == calls
        read(processes, address, **second)
        flush()
        callers = set(Use.objects.values_list("caller", "count", "last_kind"))
        assert callers == {(f"user:{user.pk}", 1, "install") for user in (alice, bob)}, address
    Use.objects.all().delete()
    check = {"x_skills_update_check": "1"}
    for client in ({**first, **check}, {**first, **check}):
        read(processes, file, **client)
    for address in (
        f"/{INDEX}",
        f"/npm/@{REPORT}",
        f"/{REPORT}.git/info/refs?{REFERENCES}",
        "/marketplace.json",
    ):
        for _ in range(2):
            read(processes, address, **first)
    flush()
    assert not Use.objects.exists()


def test_lost_file_is_an_error_of_the_protocol(local_storage, processes, team, alice):
    files = tidy_files() | {"assets/data.bin": random.Random(1).randbytes(90_000)}
    digest = publish_files(files, team=team, user=alice).digest
    address, client = f"{CLAWHUB}/download?slug=weekly-report", bearer(alice)
    assert [read(processes, address, **client).status for _ in range(2)] == [200, 200]
    not_none(blobs.local_path(digest)).unlink()
    for _ in range(2):
        answer = read(processes, address, **client)
        assert (answer.status, answer.headers["content-type"][:10]) == (500, "text/plain")
        assert b"(BLOB_MISSING)" in answer.body


def test_owner_handle_means_the_team_of_that_user_only(processes, skills, team, alice, bob, charlie):
    """ClawHub clients send the user's own name for their team; users with the same access share answers."""
    Skill.objects.filter(slug="weekly-report").update(visibility="site")
    address = f"{CLAWHUB}/skills/weekly-report?ownerHandle=bob"
    Membership.objects.filter(user=alice).update(role=Role.MEMBER)
    one, other = bearer(alice), bearer(bob)
    read(processes, f"/npm/@{REPORT}", **one)  # stores the access of the client
    for client, code in ((other, 200), (one, 404), (other, 200), (one, 404)):
        assert read(processes, address, **client).status == code


def test_install_link_has_answers_of_its_own_until_it_ends(processes, skills, alice):
    actor = Actor(user=alice)
    (first, one), (_, two) = (create_link(find_target(REPORT, actor), actor) for _ in range(2))
    links = [{"authorization": f"Link {urlsplit(each).path.split('/')[2]}"} for each in (one, two)]
    addresses = [f"/{REPORT}/{INDEX}", f"/npm/@{REPORT}", f"/{REPORT}.git/info/refs?{REFERENCES}"]
    for address in addresses:
        answers = [read(processes, address, **link) for link in links]
        calls = processes.calls
        again = [read(processes, address, **link) for link in links]
        assert (again[0].status, again, processes.calls) == (200, answers, calls)
        if "git" not in address:
            assert answers[0].body != answers[1].body  # each has the addresses of its link
    assert read(processes, f"/{REVIEW}/{INDEX}", **links[0]).status == 404
    assert read(processes, f"/{INDEX}", **links[0]).status == 404
    for link, code in zip(links, (404, 200), strict=True):
        Token.objects.filter(pk=first.pk).update(revoked_at=timezone.now())
        assert read(processes, addresses[0], **link).status == code
    Skill.objects.filter(slug="weekly-report").update(slug="monthly-report")
    Redirect.objects.create(
        team=skills["weekly-report"].team, slug="weekly-report", to=skills["weekly-report"]
    )
    assert read(processes, addresses[0], **links[1]).status == 404  # the link reads its skill's address only
