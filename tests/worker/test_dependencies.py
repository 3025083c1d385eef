"""Dependencies of scripts: made once in a sandbox that reaches the site's index alone, kept, shown read-only."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.worker.index_server import Index, wheel
from worker import sandbox
from worker.dependencies import making
from worker.models import Preparation, Status
from worker.runs import run_here

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db(transaction=True)]

BLOCK = '''# /// script
# requires-python = ">=3.9"
# dependencies = ["cheerful>=1"]
# ///
import json, os, cheerful
written = True
try:
    open("/deps/x", "w")
except OSError:
    written = False
print(json.dumps({"said": cheerful.say(), "written": written, "at": cheerful.__file__}))
'''
CHEERFUL = {"cheerful.py": "import grin\ndef say():\n    return 'hello ' + grin.FACE\n"}


@pytest.fixture(autouse=True)
def _some_network():
    if not {"bwrap", "nsrun"} & {tier.name for tier in sandbox.usable_tiers() if tier.usable}:
        pytest.skip("no tier of this machine has a network of its own")


@pytest.fixture
def index(settings):
    index = Index()
    index.add("cheerful", wheel("cheerful", files=CHEERFUL, needs=["grin"]))
    index.add("grin", wheel("grin", files={"grin.py": "FACE = ':-)'\n"}))
    settings.SKILLQUAY_PYTHON_INDEX = index.url.replace("//", "//reader:s3cret@")
    settings.SKILLQUAY_OUTBOUND_ALLOW = ["127.0.0.1"]
    settings.SKILLQUAY_DEPENDENCIES_SECONDS = 60
    yield index
    index.stop()


def test_a_script_runs_with_what_it_names_and_again_without_any_index(index, published, ask):
    version = published(script=BLOCK)
    row = Preparation.objects.get(versions=version)
    assert row.state == "waiting"
    assert making.make_waiting() == 1
    row.refresh_from_db()
    assert row.state == "ready", (row.problem, row.log)
    assert [(p["name"], p["version"]) for p in row.packages] == [("cheerful", "1.0.0"), ("grin", "1.0.0")]
    index.stop()
    run = run_here(ask(version))
    assert run.status == Status.SUCCEEDED, run.message
    print(run.result)
