"""Skills to run: small packages published for Alice's team."""

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


@pytest.fixture
def published(team, alice):
    """``published(slug, script, front matter…)``: a version of ``docs/slug`` whose one script is Python."""
    from registry.actors import Actor
    from registry.packages.reading import read_files
    from registry.publishing import publish

    def make(slug="hello", script=HELLO, *, visibility="private", number="1.0.0", front=""):
        head = f"---\nname: {slug}\ndescription: For tests.\nversion: {number}\n{front}---\n# {slug}\n"
        files = [("SKILL.md", head.encode()), (f"scripts/{slug}.py", textwrap.dedent(script).encode())]
        package = read_files(files)
        return publish(package, team=team, actor=Actor(user=alice), visibility=visibility).version

    return make


@pytest.fixture
def hello(published):
    return published()


@pytest.fixture
def ask(alice):
    """``ask(version, inputs…)``: a run asked for by Alice, or by ``by``, without waking anybody."""
    from registry.actors import Actor
    from worker.protocols.call import Request
    from worker.runs import request_run

    def asked(version, inputs=None, *, by=None, **more):
        request = {key: more.pop(key) for key in ("script", "stdin", "debug", "context") if key in more}
        return request_run(
            actor=Actor(user=by or alice),
            version=version,
            request=Request(inputs=inputs or {}, **request),
            **more,
        )

    return asked


@pytest.fixture(autouse=True)
def nobody_listens(monkeypatch):
    """Wake-ups are counted; the tests execute runs themselves."""
    woken = []
    monkeypatch.setattr("worker.runs.wake", lambda: woken.append(1) or True)
    monkeypatch.setattr("worker.reaper.wake", lambda: woken.append(1) or True)
    return woken


@pytest.fixture
def queued(hello, ask):
    return ask(hello)


@pytest.fixture
def claimed(queued):
    from worker.states import claim_next

    claim_next("host:1")
    queued.refresh_from_db()
    return queued
