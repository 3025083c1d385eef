"""Share links: what they show, and attacks on them. A link that does not work is the same as none."""

from __future__ import annotations

import re
import secrets
from datetime import timedelta

import pytest
from django.utils import timezone

from registry.identity.actors import Actor
from registry.models import AuditEntry, Membership, Role, Team, User
from tests.factories.runs import add_artifact, add_log, make_hostile_run, make_run
from tests.pages import actions, part, parts
from worker.models import Run, ShareLink
from worker.retention.erase import erase_run
from worker.sharing.links import LinkOptions, create_link, revoke_link

pytestmark = [pytest.mark.django_db, pytest.mark.row("P2", "P5")]
EVERYTHING = LinkOptions(inputs=True, log=True, artifacts=True)
HIDDEN = ("needle-input", "needle-log", "needle-file", "caller-name", "needle-team", "other-bytes")
_FORM_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')
SECRET_CONTENT = (*HIDDEN[:2], *HIDDEN[3:], "needle-bytes")


@pytest.fixture
def run(public, bob, team):
    User.objects.filter(pk=bob.pk).update(username="caller-name")
    Team.objects.filter(pk=team.pk).update(name="needle-team")
    made = make_run(public.latest, bob, team, request={"inputs": {"word": "needle-input"}})
    add_log(made, ("stdout", "needle-log\n"))
    add_artifact(made, "out/needle-file.csv", b"needle-bytes")
    return made


@pytest.fixture
def other(public, bob, team):
    made = make_run(public.latest, bob, team)
    add_artifact(made, "other-file.txt", b"other-bytes")
    return made


def share(run, user, options=EVERYTHING):
    """The link, and the path of its page."""
    link, address = create_link(run, options, Actor(user=user))
    return link, address[address.index("/shared/") :]


def assert_private(answer):
    """No cache, search engine or referrer gets the page."""
    assert "no-store" in answer["Cache-Control"]
    assert "noindex" in answer["X-Robots-Tag"]
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "ETag" not in answer
    assert "Last-Modified" not in answer


def body(answer):
    return answer.getvalue().decode(errors="replace")


@pytest.fixture
def assert_dead(browse):
    """``assert_dead(path)``: nobody learns that the link, its log or its files exist."""

    def check(path):
        unknown = f"/shared/{secrets.token_urlsafe(16)}/"
        for tail in ("", "log/", "artifacts/out/needle-file.csv"):
            same_id = {"x-request-id": "same-request"}  # otherwise each page shows its own
            answer = browse().get(path + tail, headers=same_id)
            absent = browse().get(unknown + tail, headers=same_id)
            assert answer.status_code == 404
            assert _FORM_TOKEN.sub("", body(answer).replace(path, unknown)) == _FORM_TOKEN.sub(
                "", body(absent)
            )
            assert_private(answer)

    return check


def test_link_shows_what_its_creator_chose_and_no_names(browse, run, bob):
    _, path = share(run, bob, LinkOptions())
    page = browse().get(path)
    assert_private(page)
    assert part(page, "shared-run")["state"] == "succeeded"
    assert "Seven days read." in page.text
    assert not [word for word in HIDDEN if word in page.text]
    assert 'name="robots"' in page.text
    for tail in ("log/", "artifacts/out/needle-file.csv"):
        assert browse().get(path + tail).status_code == 404


def test_link_with_everything_offers_inputs_log_and_files(browse, run, other, bob):
    _, path = share(run, bob)
    page = browse().get(path)
    assert [word for word in HIDDEN if word in page.text] == ["needle-input", "needle-log", "needle-file"]
    assert f"/runs/{run.uid}" not in page.text
    log, file = browse().get(f"{path}log/"), browse().get(f"{path}artifacts/out/needle-file.csv")
    assert (body(log), body(file)) == ("needle-log\n", "needle-bytes")
    for answer in (log, file):
        assert_private(answer)
        assert answer["Content-Disposition"].startswith("attachment")
        assert answer["Content-Security-Policy"].startswith("sandbox")
        assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "attack",
    [
        "/shared/{random}/", "/shared/{swapped}/", "/shared/{short}/", "/shared/{secret}A/",
        "/shared/{secret}%20/", "/shared/{secret}%00/", "/shared/{secret}%0A/", "/shared/{secret};/",
        "/shared/{secret}%2F/", "/shared/{hash}/", "/shared/{uid}/", "/shared/{run}/", "/shared/%25/",
        "/shared/______________________/", "/shared/'%20OR%201=1--/",
        "/shared/{secret}/%2e%2e/%2e%2e/runs/{run}/", "/shared/{secret}/run/", "/shared/{secret}/log/x",
        "{page}artifacts/other-file.txt", "{page}artifacts/{other}/other-file.txt",
        "{page}artifacts/../other-file.txt", "{page}artifacts/out/%2e%2e/out/needle-file.csv",
        "{page}artifacts/out//needle-file.csv", "{page}artifacts//out/needle-file.csv",
        "{page}artifacts/out/needle-file.csv/", "{page}artifacts/out/NEEDLE-FILE.csv",
        "{page}artifacts/out%5Cneedle-file.csv", "{page}artifacts/out/needle-file.csv%00",
        "{page}artifacts/%2Fetc%2Fpasswd", "{page}artifacts/", "{page}artifacts/out/",
        "{page}artifacts/{digest}",
    ],
)  # fmt: skip
def test_path_tricks_find_nothing(browse, run, other, bob, attack):
    link, page = share(run, bob)
    secret = page.split("/")[2]
    path = attack.format(
        page=page, secret=secret, short=secret[:-1], swapped=secret.swapcase(), hash=link.secret_hash,
        random=secrets.token_urlsafe(16), uid=link.uid, run=run.uid, other=other.uid,
        digest=run.artifacts.get().digest,
    )  # fmt: skip
    answer = browse().get(path)
    assert answer.status_code == 404
    assert not [word for word in SECRET_CONTENT if word in body(answer)]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_refused_for_every_address(browse, run, bob, method):
    _, page = share(run, bob)
    for path in (page, f"/shared/{secrets.token_urlsafe(16)}/"):
        answer = browse().generic(method, path, headers={"X-HTTP-Method-Override": "GET"})
        assert answer.status_code == 405
        assert answer["Allow"] == "GET, HEAD"
        assert_private(answer)


def _revoke(link):
    revoke_link(link, Actor(user=link.created_by))


def _erase(link):
    erase_run(link.run, actor=Actor(user=link.created_by))


WAYS_TO_END = {
    "revoked": _revoke,
    "expired": lambda link: ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1)),
    "erased": _erase,
    "purged": lambda link: Run.objects.filter(pk=link.run_id).delete(),
    "creator demoted": lambda link: Membership.objects.filter(user=link.created_by).update(role=Role.MEMBER),
    "creator left": lambda link: Membership.objects.filter(user=link.created_by).delete(),
    "creator deactivated": lambda link: User.objects.filter(pk=link.created_by_id).update(is_active=False),
    "links forbidden": lambda link: Team.objects.update(share_links=False),
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_ended_link_shows_nothing(browse, assert_dead, run, alice, way):
    link, path = share(run, alice)
    assert browse().get(path).status_code == 200
    WAYS_TO_END[way](link)
    assert_dead(path)
    for headers in ({"Range": "bytes=0-"}, {"If-None-Match": "*"}, {"X-Original-URL": path}):
        assert browse().get(f"{path}artifacts/out/needle-file.csv", headers=headers).status_code == 404
    head = browse().head(path)
    assert (head.status_code, head.content) == (404, b"")


def test_conditional_and_partial_requests_get_no_cached_answer(browse, run, bob):
    _, path = share(run, bob)
    for headers in ({"If-None-Match": "*"}, {"If-Modified-Since": "Sun, 06 Nov 2044 08:49:37 GMT"}):
        assert browse().get(path, headers=headers).status_code == 200
    head = browse().head(path)
    assert (head.status_code, head.content) == (200, b"")
    ranged = browse().get(f"{path}artifacts/out/needle-file.csv", headers={"Range": "bytes=1-999"})
    assert_private(ranged)
    assert body(ranged) in ("needle-bytes", "eedle-bytes")


def test_secret_opens_no_other_address(browse, run, bob, client):
    _, path = share(run, bob)
    secret = path.split("/")[2]
    for address in (f"/runs/{run.uid}/?share={secret}", f"/runs/{run.uid}/artifacts/out/needle-file.csv"):
        assert browse().get(address).status_code in (302, 404)
    bearer = {"Authorization": f"Bearer {secret}"}
    assert browse().get(f"/api/v1/runs/{run.uid}", headers=bearer).status_code == 401


def test_guessing_is_rate_limited_and_readers_are_not(browse, run, bob, rate_limits):
    rate_limits(share_link=2)
    _, path = share(run, bob)
    guesses = [browse().get(f"/shared/{secrets.token_urlsafe(16)}/").status_code for _ in range(4)]
    assert guesses == [404, 404, 429, 429]
    assert browse().get(path).status_code == 200


def test_secret_is_stored_nowhere(run, bob):
    _, path = share(run, bob)
    secret = path.split("/")[2]
    assert len(secret) == 22  # 128 bits in base 64
    stored = [*ShareLink.objects.values(), *AuditEntry.objects.values()]
    assert secret not in str(stored)
    assert "share_link.create" in str(stored)


def test_hostile_run_stays_text(browse, public, bob, team):
    _, path = share(make_hostile_run(public.latest, bob, team), bob)
    page = browse().get(path).text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page


def test_owner_creates_and_revokes_links_on_the_page(browse, run, bob, alice, charlie):
    client, address = browse(bob), f"/runs/{run.uid}/share/"
    assert "share" in actions(client.get(f"/runs/{run.uid}/"))
    page = client.post(address, {"log": "on", "days": "1"})
    shown = part(page, "new-link")["value"]
    assert "no-store" in page["Cache-Control"]
    assert "needle-log" in browse().get(shown[shown.index("/shared/") :]).text
    row = part(client.get(address), "share-link", state="active")
    assert shown not in client.get(address).text
    assert browse(charlie).post(f"{address}{row['value']}/revoke/").status_code == 404
    browse(alice).post(f"{address}{row['value']}/revoke/")  # as maintainer of the run's team
    assert parts(client.get(address), "share-link", state="revoked")
    assert browse().get(shown[shown.index("/shared/") :]).status_code == 404
    Team.objects.update(share_links=False)
    assert parts(client.get(address), "links-off")
