"""Each kind of script that fails: the code, cause and remedy by page, list, API and command."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from django.core.management import call_command

from registry.identity.actors import Actor
from registry.packages.problems import code_named
from tests.factories.skills import publish_files
from tests.pages import part, parts
from tests.skipping import require_network
from worker.models import Attempt
from worker.run_views.documents import run_document
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("B3", "P5", "C6")]

HEAD = "---\nname: failing\ndescription: For tests.\nversion: 1.0.0\n---\n# Failing\n"
ARGPARSE = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--rows')\np.parse_args()\n"

FAILURES = [
    ("a.py", "import absent_library\nprint(1)\n", "MODULE_MISSING", "absent_library", "scripts/a.py"),
    (
        "a.py",
        "import subprocess\nsubprocess.run(['absent-tool'])\n",
        "PROGRAM_MISSING",
        "absent-tool",
        "scripts/a.py",
    ),
    ("a.py", ARGPARSE, "USAGE", "unrecognized arguments: --bad", ""),
    ("a.sh", "set -e\necho x\nabsent-tool x\n", "PROGRAM_MISSING", "absent-tool", "scripts/a.sh"),
    (
        "b.sh",
        "command -v absent-tool || { echo 'absent-tool is not installed'; exit 1; }\n",
        "PROGRAM_MISSING",
        "absent-tool",
        "",
    ),
    ("a.sh", "set -u\necho $2\n", "USAGE", "$2: unbound variable", "scripts/a.sh"),
    ("a.js", "const x = require('absent-module')\n", "MODULE_MISSING", "absent-module", "scripts/a.js"),
    ("a.mjs", "import x from 'absent-module'\n", "MODULE_MISSING", "absent-module", "scripts/a.mjs"),
    ("a.js", "require('child_process').spawn('absent-tool')\n", "PROGRAM_MISSING", "absent-tool", ""),
    (
        "a.ts",
        "import x from 'absent-module'\nconsole.log(x)\n",
        "MODULE_MISSING",
        "absent-module",
        "scripts/a.ts",
    ),
    (
        "a.ts",
        "await new Deno.Command('absent-tool').output()\n",
        "PROGRAM_MISSING",
        "absent-tool",
        "scripts/a.ts",
    ),
]


@pytest.fixture
def ran(team, alice, queue_run):
    """``ran(name, script)``: the executed run of a skill with this script, called with ``--bad``."""

    def ran(name, script, arguments=("--bad",), head=HEAD):
        files = {"SKILL.md": head.encode(), f"scripts/{name}": script.encode()}
        version = publish_files(files, team=team, user=alice)
        return execute_here(queue_run(version, arguments=list(arguments)))

    return ran


@pytest.mark.parametrize(("name", "script", "code", "text", "file"), FAILURES)
def test_failure_is_explained(ran, client, alice, name, script, code, text, file):
    run = ran(name, script)
    assert run.failure_code == code, run.cause
    document = run_document(run, actor=Actor(user=alice))
    cause = document["cause"]
    assert (cause["type"], cause["file"]) == (code, file)
    assert text in cause["message"]
    assert cause["remedy"] == code_named(code).remedy
    assert document["error"]["code"] == code
    client.force_login(alice)
    page = client.get(f"/runs/{run.uid}/").text
    assert part(page, "cause")["type"] == code
    assert text in part(page, "cause")
    [row] = parts(client.get(f"/runs/?failure_code={code}"), "run")
    assert code in row
    assert text in row
    assert parts(client.get("/runs/?failure_code=TIMEOUT"), "run") == []


def test_list_of_the_api_filters_and_counts_the_code(ran, client, alice):
    run = ran("a.py", "import absent_library\nprint(1)\n")
    client.force_login(alice)
    runs = client.get("/api/v1/runs?failure_code=MODULE_MISSING").json()["items"]
    assert [(each["id"], each["cause"]["type"]) for each in runs] == [(run.uid, "MODULE_MISSING")]
    counts = client.get("/api/v1/skills/docs/failing/statistics").json()
    assert "MODULE_MISSING" in json.dumps(counts)


def test_command_prints_cause_and_remedy(team, alice):
    files = {"SKILL.md": HEAD.encode(), "scripts/a.py": b"import absent_library\nprint(1)\n"}
    publish_files(files, team=team, user=alice)
    out = io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command("run_skill", "docs/failing", "--here", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0].endswith("MODULE_MISSING")
    assert "absent_library" in lines[1]
    assert lines[1].endswith("(scripts/a.py:1)")
    assert lines[-1] == code_named("MODULE_MISSING").remedy


def test_usage_is_shown_after_wrong_arguments_and_in_the_form(ran, client, alice):
    run = ran("a.py", ARGPARSE)
    client.force_login(alice)
    usage = part(client.get(f"/runs/{run.uid}/"), "usage")
    assert "usage: a.py [-h] [--rows ROWS]" in usage
    form = client.get(f"/skills/docs/failing/run/?rerun_of={run.uid}")
    assert "usage: a.py [-h] [--rows ROWS]" in part(form, "usage")
    other = ran("a.py", "import absent_library\nprint(1)\n", head=HEAD.replace("1.0.0", "1.1.0"))
    assert parts(client.get(f"/runs/{other.uid}/"), "usage") == []


NETWORK = """
    import sys, urllib.request
    try:
        urllib.request.urlopen("https://api.example.com/works", timeout=3)
    except OSError:
        if "--bad" in sys.argv:
            raise
"""


@pytest.mark.parametrize(("arguments", "code"), [((), ""), (("--bad",), "HOST_REFUSED")])
def test_refused_host_is_listed_without_network(publish_skill, queue_run, client, alice, arguments, code):
    require_network()
    run = execute_here(queue_run(publish_skill(script=NETWORK), arguments=list(arguments)))
    assert run.failure_code == code, run.cause
    [access] = Attempt.objects.get(run=run).network
    assert (access["host"], access["code"]) == ("api.example.com", "NETWORK_HOST_REFUSED")
    client.force_login(alice)
    page = client.get(f"/runs/{run.uid}/").text
    assert part(page, "dial", value="api.example.com")["code"] == "NETWORK_HOST_REFUSED"
    if code:
        assert "api.example.com" in part(page, "failure")


def test_failed_command_of_a_prompt_names_the_program(team, alice, queue_run):
    text = HEAD.replace("---\n# Failing\n", "---\nDifference: !`absent-tool --stat`\n")
    run = execute_here(queue_run(publish_files({"SKILL.md": text.encode()}, team=team, user=alice)))
    assert run.failure_code == "PROGRAM_MISSING", run.message
    assert "absent-tool" in run.cause["message"]


def test_json_answer_keeps_its_standard_code(publish_skill, queue_run):
    version = publish_skill(script="import absent_library\nprint(1)\n")
    run = execute_here(queue_run(version, action="go"))
    assert (run.failure_code, run.result["error"]["code"]) == ("MODULE_MISSING", "INTERNAL_ERROR")
    assert run.cause["type"] == "MODULE_MISSING"


@pytest.mark.parametrize(("imported", "has_proxy"), [("json", False), ("urllib.request", True)])
def test_only_a_package_that_can_reach_hosts_starts_with_a_proxy(
    publish_skill, queue_run, imported, has_proxy
):
    require_network()
    script = f"import json, os\nimport {imported}\nprint(json.dumps(dict(os.environ)))\n"
    outputs = execute_here(queue_run(publish_skill(script=script))).result["outputs"]
    assert ("HTTPS_PROXY" in outputs) == has_proxy
