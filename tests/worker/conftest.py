"""Small skills published in Alice's team, and runs of them."""

from __future__ import annotations

import textwrap

import pytest

HELLO = """
    import argparse, json, os, sys
    parser = argparse.ArgumentParser()
    parser.add_argument("--who", default="you")
    parser.add_argument("--output-dir")
    parser.add_argument("--input-path")
    asked = parser.parse_args()
    print("50% complete", file=sys.stderr)
    if asked.output_dir:
        os.makedirs(os.path.join(asked.output_dir, "deep"))
        with open(os.path.join(asked.output_dir, "deep", "hello.txt"), "w") as file:
            file.write("hello " + asked.who)
    read = open(asked.input_path).read() if asked.input_path else None
    print(json.dumps({"greeting": "hello " + asked.who, "read": read, "path": asked.input_path}))
"""


REQUEST_FIELDS = ("script", "action", "arguments", "stdin", "debug", "context")


@pytest.fixture
def publish_skill(team, alice):
    """``publish_skill(slug, script, …)``: publishes ``docs/slug`` with one Python script."""
    from registry.identity.actors import Actor
    from registry.packages.read_package import read_files
    from registry.versions.publishing.publish import publish

    def make(slug="hello", script=HELLO, *, visibility="private", number="1.0.0", front=""):
        head = f"---\nname: {slug}\ndescription: For tests.\nversion: {number}\n{front}---\n# {slug}\n"
        files = [("SKILL.md", head.encode()), (f"scripts/{slug}.py", textwrap.dedent(script).encode())]
        package = read_files(files)
        return publish(package, team=team, actor=Actor(user=alice), visibility=visibility).version

    return make


@pytest.fixture
def hello(publish_skill):
    return publish_skill()


@pytest.fixture
def queue_run(alice):
    """``queue_run(version, inputs…)``: creates a run for Alice, or for ``by``, and starts no worker."""
    from registry.identity.actors import Actor
    from worker.protocols.call import Request
    from worker.runs.request import request_run

    def make(version, inputs=None, *, by=None, **more):
        request = {key: more.pop(key) for key in REQUEST_FIELDS if key in more}
        return request_run(
            actor=Actor(user=by or alice),
            version=version,
            request=Request(inputs=inputs or {}, **request),
            **more,
        )

    return make


@pytest.fixture(autouse=True)
def wake_calls(monkeypatch):
    """Records wake-ups instead of sending them: the tests execute runs themselves."""
    calls: list[int] = []

    def wake():
        calls.append(1)
        return True

    monkeypatch.setattr("worker.runs.request.wake", wake)
    monkeypatch.setattr("worker.service.reaper.wake", wake)
    monkeypatch.setattr("worker.queue.dispatch.message_counter.receivers", [lambda: 0])
    return calls


@pytest.fixture
def queued(hello, queue_run):
    return queue_run(hello)


@pytest.fixture
def claimed(queued):
    from worker.queue.claims import claim_next

    claim_next("host:1")
    queued.refresh_from_db()
    return queued
