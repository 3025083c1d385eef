"""Every address under /api/v1/, as somebody who must see nothing: private answers exactly as absent."""

import re

import pytest

from registry.models.identity import new_uid
from tests.addresses import filled, routes
from tests.api.conftest import THERE, archive, session_api

pytestmark = [pytest.mark.row("P2"), pytest.mark.django_db]

ABSENT = {"team": "dxcs", "slug": "sxmmarise", "number": "7.7.7", "path": "nxthing.md", "code": "NXT_FOUND"}
ABSENT |= {"before": "7.7.7", "after": "lxtest", "name": "stxble", "note": "0", "collection": "stxrt"}
EVENTS = ("events", "webhooks", "event-subscriptions", "subscriptions", "deliveries")
METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE")


def addresses():
    """``skills/<str:team>/…`` of every pattern of the API."""
    return [route.removeprefix("api/v1/") for route in routes() if route.startswith("api/v1/")]


def pairs(route, private):
    """The address of a private object and the same address of an absent one."""
    there = {**THERE, "code": "NXT_FOUND", "other": private["runs"], "username": "alice"}
    there["uid"] = private.get(route.split("/")[0], new_uid())
    absent = {**ABSENT, "username": "axice", "uid": new_uid(), "other": new_uid()}
    swaps = [(absent[name], there[name]) for name in there]
    return filled(route, there), filled(route, absent), swaps


def content(answer, swaps):
    """Status, body and headers of a response, with the absent names replaced by the private ones."""
    text = answer.getvalue().decode(errors="replace")
    own = ("X-Request-ID", "ETag", "Content-Length", "RateLimit-Remaining", "RateLimit-Reset")
    headers = {k: v for k, v in answer.items() if k not in own}
    for absent, there in swaps:
        text = text.replace(absent, there)
    return answer.status_code, re.sub(r'"request_id": "\w+"', "", text), headers


def callers(charlie, token_api):
    yield "anonymous", session_api(None)
    yield "charlie", session_api(charlie)
    yield "token", token_api(charlie)


def test_the_walk_knows_every_address():
    assert len(addresses()) >= 24
    assert {"skills/<str:team>/<str:slug>", "runs/<str:uid>/artifacts/<path:path>"} <= set(addresses())


@pytest.mark.matrix("who", "method", at_most=2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("who", ["anonymous", "charlie", "token"])
def test_no_address_tells_a_stranger_that_something_is_there(private, charlie, token_api, who, method):
    api = dict(callers(charlie, token_api))[who]
    for route in addresses():
        there, absent, swaps = pairs(route, private)
        if there == absent:
            continue
        body = {"visibility": "public"} if method == "PATCH" else None
        seen, unseen = api(method, there, body), api(method, absent, body)
        assert content(seen, []) == content(unseen, swaps), route
        ends = (401, 404, 405) + (403,) * (who == "token")  # 403: no token may do this
        assert seen.status_code in ends, (route, seen.status_code)


@pytest.mark.parametrize(
    ("method", "path", "absent"),
    [
        ("GET", "skills?team=docs", "skills?team=dxcs"),
        ("GET", "skills?q=summarise", "skills?q=sxmmarise"),
        ("GET", "skills?ids=docs/summarise", "skills?ids=docs/sxmmarise"),
        ("GET", "search?q=summarise", "search?q=sxmmarise"),
        ("GET", "search?q=document&team=docs", "search?q=document&team=dxcs"),
        ("GET", "runs?skill=docs/summarise", "runs?skill=docs/sxmmarise"),
        ("GET", "runs?team=docs", "runs?team=dxcs"),
        ("GET", "runs?request_id=req-private", "runs?request_id=req-absent"),
        ("POST", "usage {'skill': 'docs/summarise'}", "usage {'skill': 'docs/sxmmarise'}"),
        ("POST", "runs {'skill': 'docs/summarise'}", "runs {'skill': 'docs/sxmmarise'}"),
        ("POST", "runs {'skill': 'summarise'}", "runs {'skill': 'sxmmarise'}"),
        ("POST", "packages?team=docs", "packages?team=dxcs"),
        ("POST", "packages?team=docs&dry_run=1", "packages?team=dxcs&dry_run=1"),
    ],
)
def test_no_filter_and_no_body_tells_it_either(private, charlie, token_api, method, path, absent):
    swaps = [(ABSENT["team"], "docs"), (ABSENT["slug"], "summarise")]
    for who, api in callers(charlie, token_api):
        seen, unseen = (_sent(api, method, text) for text in (path, absent))
        assert content(seen, []) == content(unseen, swaps), who
        assert (
            "summarise" not in seen.content.decode().replace('"query":"summarise"', "")
            or seen.status_code == 404
        )


def _sent(api, method, text):
    address, _, body = text.partition(" ")
    if address.startswith("packages"):
        return api(method, address, archive(), kind="application/zip")
    return api(method, address, body.replace("'", '"') or None)


def test_no_list_holds_a_trace_of_anything_private(private, charlie, token_api):
    for who, api in callers(charlie, token_api):
        for path in (
            "skills",
            "search?q=document",
            "changes",
            "runs",
            "me",
            "errors",
            "imports",
            "sources",
            "uploads",
            *EVENTS,
        ):
            text = api.get(path).content.decode()
            for secret in (
                *private.values(),
                "docs/summarise",
                "Summarise",
                "req-private",
                "evt-private",
                "secret hook",
            ):
                assert secret not in text, (who, path)


def test_a_strangers_answers_do_not_change_when_something_private_is_published(publish, charlie):
    api = session_api(charlie)
    publish({"SKILL.md": "---\nname: open\ndescription: A public document tool.\n---\n"}, visibility="public")
    paths = ("skills", "skills?q=document", "search?q=document", "search?q=docu", "changes")
    before = [api.get(path).content for path in paths]
    publish()
    assert [api.get(path).content for path in paths] == before
