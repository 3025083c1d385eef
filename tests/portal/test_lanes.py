"""What the server does beside Django: long answers, and clients who take or give them slowly."""

from __future__ import annotations

import asyncio
import os

import pytest

from portal.lanes import files
from portal.lanes.files import PIECE, FileLane
from worker.events import events_after

pytestmark = pytest.mark.row("P5", "P9")


async def nothing_to_receive():
    return {"type": "http.disconnect"}


def answers(body):
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


def test_a_long_answer_waits_in_a_file_for_its_reader_not_in_memory(settings, tmp_path):
    settings.SKILLQUAY_VAR = tmp_path
    body, sent = os.urandom(PIECE * 3 + 7), []

    async def send(message):
        sent.append(message)

    asyncio.run(FileLane(answers(body))({"type": "http"}, nothing_to_receive, send))
    pieces = [message["body"] for message in sent[1:]]
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) == PIECE
    assert [message.get("more_body", False) for message in sent[1:]] == [True] * 4 + [False]


def test_a_reader_who_takes_nothing_is_left(settings, tmp_path, monkeypatch):
    settings.SKILLQUAY_VAR = tmp_path
    monkeypatch.setattr(files, "STALLED_S", 0.01)

    async def send(message):
        if message["type"] == "http.response.body":
            await asyncio.sleep(3600)

    with pytest.raises(TimeoutError):
        asyncio.run(FileLane(answers(b"x" * PIECE * 2))({"type": "http"}, nothing_to_receive, send))


@pytest.mark.django_db
@pytest.mark.parametrize("position", ["0.99..\n\ndata: forged\n\n.0", "0.99.queued\nx.5.0", "0.99..1000.0"])
def test_no_position_puts_words_into_the_events(bob, public, team, position):
    from tests.run_samples import make_run

    run = make_run(public.latest, bob, team, progress=None)
    assert "forged" not in events_after(run.uid, position)[1]
    assert events_after(run.uid, position) == events_after(run.uid, "")
