"""The run form of a script whose parser declares its parameters."""

from __future__ import annotations

import html
import json
import re
import textwrap

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.pages.runs.forms.parameter_fields import ValuesField
from registry.packages.command_lines import Parameter
from tests.factories.runs import make_run
from tests.factories.skills import publish_files
from tests.pages import part, parts, select
from worker.models import InputFile, Run
from worker.service.inline import execute_here

pytestmark = [pytest.mark.django_db, pytest.mark.row("A7", "P11", "P8")]

TABLES = """
    import argparse, json
    parser = argparse.ArgumentParser(description="Works on tables")
    parser.add_argument("--quiet", action="store_true")
    commands = parser.add_subparsers(dest="command", required=True)
    count = commands.add_parser("count")
    count.add_argument("input_file")
    count.add_argument("--tag", action="append")
    count.add_argument("--size", type=int, required=True)
    count.add_argument("--mode", choices=["fast", "slow"], default="fast")
    output = count.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true")
    output.add_argument("--csv", action="store_true")
    join = commands.add_parser("join")
    join.add_argument("input_files", nargs="+")
    given = parser.parse_args()
    files = given.input_files if given.command == "join" else [given.input_file]
    print(json.dumps(vars(given) | {"read": [open(file).read() for file in files]}))
"""
ADDRESS = "/skills/docs/tables/run/"


@pytest.fixture(autouse=True)
def no_worker(monkeypatch):
    monkeypatch.setattr("worker.runs.request.wake", lambda: True)


@pytest.fixture
def publish_scripts(team, alice):
    def publish(name="tables", body="", **scripts):
        head = f"---\nname: {name}\ndescription: For tests.\nversion: 1.0.0\n---\n# Tables\n{body}"
        files = {f"scripts/{key}.py": textwrap.dedent(text).encode() for key, text in scripts.items()}
        return publish_files({"SKILL.md": head.encode(), **files}, team=team, user=alice)

    return publish


@pytest.fixture
def tables(publish_scripts):
    return publish_scripts(tables=TABLES)


def _named(page) -> dict[str, str]:
    """The name of each field by the text of its label or legend up to the first space."""
    found = {}
    for label in select(page, "label"):
        if label.text.strip() and "for" in label.attributes:
            found.setdefault(label.text.split()[0], label.attributes["for"].removeprefix("id_"))
    for fieldset in select(page, "fieldset"):
        if "id" in fieldset.attributes:
            found.setdefault(fieldset.text.split()[0], fieldset.attributes["id"].removeprefix("id_"))
    for box in select(page, "input", type="checkbox"):
        found.setdefault(box.attributes["name"], box.attributes["name"])
    return found


def _request(page) -> dict:
    """The body of the curl line."""
    text = next(each.text for each in select(page, "pre") if each.attributes.get("id") == "curl")
    body = text.split("-d '", 1)[1].rsplit("' \\", 1)[0]
    return json.loads(body)


def test_form_has_a_control_for_each_parameter(browse, bob, tables):
    page = browse(bob).get(ADDRESS)
    names = _named(page)
    assert [
        each.attributes["value"] for each in select(page, "select", name="command")[0].tags("option")
    ] == [
        "count",
        "join",
    ]
    assert select(page, "input", name=names["--size"], type="number")
    assert [
        each.attributes["value"] for each in select(page, "select", name=names["--mode"])[0].tags("option")
    ] == [
        "",
        "fast",
        "slow",
    ]
    assert select(page, "textarea", name=names["--tag"])
    assert select(page, "input", type="file", name=f"{names['input_file']}-file")
    assert len(part(page, "exclusive").select("input", type="checkbox")) == 2
    assert "input_files" not in names


def test_form_starts_a_run_with_the_words_of_the_call(browse, bob, tables):
    client = browse(bob)
    names = _named(client.get(ADDRESS))
    exclusive = [each.attributes["name"] for each in part(client.get(ADDRESS), "exclusive").select("input")]
    values = {
        "version": "1.0.0",
        "form_token": "x" * 26,
        "command": "count",
        names["--size"]: "3",
        names["--tag"]: "a\n-b",
        names["--mode"]: "slow",
        exclusive[0]: "on",
    }
    missing = client.post(ADDRESS, values)
    assert missing.status_code == 422
    assert part(missing, "errors").values("field") == [names["input_file"]]
    both = client.post(ADDRESS, {**values, exclusive[1]: "on", f"{names['input_file']}-text": "x"})
    assert part(both, "errors").values("code") == ["exclusive"]
    upload = SimpleUploadedFile("rows.csv", b"one")
    assert client.post(ADDRESS, {**values, f"{names['input_file']}-file": upload}).status_code == 302
    run = execute_here(Run.objects.get())
    assert run.status == "succeeded", run.message
    outputs = run.result["outputs"]
    assert outputs["read"] == ["one"]
    assert (outputs["size"], outputs["tag"], outputs["mode"]) == (3, ["a", "-b"], "slow")
    assert outputs["json"] is True
    assert outputs["csv"] is False


def test_run_again_fills_the_fields(browse, bob, tables, team):
    words = ["--quiet", "count", "a.csv", "--size=4", "--tag", "x", "--tag=-y", "--json"]
    run = make_run(tables, bob, team, request={"inputs": {}, "arguments": words, "script": "tables"})
    page = browse(bob).get(f"{ADDRESS}?rerun_of={run.uid}")
    names = _named(page)
    assert select(page, "input", name=names["--size"])[0].attributes["value"] == "4"
    assert select(page, "textarea", name=names["--tag"])[0].text.split() == ["x", "-y"]
    assert select(page, "input", name=f"{names['input_file']}-text")[0].attributes["value"] == "a.csv"
    assert sum("checked" in each.attributes for each in select(page, "input", type="checkbox")) == 2
    unknown = make_run(tables, bob, team, request={"inputs": {}, "arguments": ["count", "--lost"]})
    page = browse(bob).get(f"{ADDRESS}?rerun_of={unknown.uid}")
    assert select(page, "textarea", name="arguments")[0].text.strip() == "count --lost"


def test_curl_line_is_the_call_of_the_form_and_works(browse, bob, tables):
    client = browse(bob)
    names = _named(client.post(ADDRESS, {"version": "1.0.0", "command": "join", "show_fields": "1"}))
    uploads = [SimpleUploadedFile("a.txt", b"one"), SimpleUploadedFile("b.txt", b"two")]
    values = {"version": "1.0.0", "command": "join", "form_token": "x" * 26}
    shown = client.post(ADDRESS, {**values, f"{names['input_files']}-files": uploads, "show_request": "1"})
    assert not Run.objects.exists()
    document = _request(shown)
    ids = [{"input": each.uid} for each in InputFile.objects.order_by("pk")]
    assert document["arguments"] == ["join", *ids]
    kept = "\n".join(map(json.dumps, ids))
    assert kept in html.unescape(shown.text)
    client.post(ADDRESS, {**values, names["input_files"]: kept})
    assert Run.objects.get().request["arguments"] == document["arguments"]
    answer = client.post("/api/v1/runs", document, content_type="application/json")
    run = execute_here(Run.objects.get(uid=answer.json()["id"]))
    assert run.result["outputs"]["read"] == ["one", "two"]


def test_other_command_shows_its_fields_without_errors(browse, bob, tables):
    client = browse(bob)
    page = client.post(ADDRESS, {"version": "1.0.0", "command": "join", "show_fields": "1"})
    assert page.status_code == 200
    assert not parts(page, "errors")
    assert "input_files" in _named(page)
    assert "--size" not in _named(page)
    assert not Run.objects.exists()


HAND = """
    '''Usage: hand.py FILE [LINES]'''
    import sys
    print(open(sys.argv[1]).read(), sys.argv[2:])
"""
CALLS = "\n    python scripts/hand.py rows.csv 5\n    python scripts/hand.py other.csv\n"


def test_argument_line_is_filled_with_a_shown_call_next_to_the_usage(browse, bob, publish_scripts):
    publish_scripts(body=CALLS, hand=HAND)
    client = browse(bob)
    page = client.get(ADDRESS)
    assert select(page, "textarea", name="arguments")[0].text.strip() == "rows.csv 5"
    assert "Usage: hand.py FILE [LINES]" in part(page, "usage").text
    samples = part(page, "samples").select("a")
    assert [each.text.strip() for each in samples] == ["rows.csv 5", "other.csv"]
    assert _request(page)["arguments"] == ["rows.csv", "5"]
    second = client.get(ADDRESS + html.unescape(samples[1].attributes["href"]))
    assert select(second, "textarea", name="arguments")[0].text.strip() == "other.csv"
    upload = SimpleUploadedFile("rows.csv", b"one")
    sent = {"version": "1.0.0", "form_token": "x" * 26, "arguments": "rows.csv 5", "argument_files": upload}
    assert client.post(ADDRESS, sent).status_code == 302
    run = execute_here(Run.objects.get())
    assert run.status == "succeeded", run.message


def test_shown_call_fills_the_fields_and_a_refused_one_is_not_offered(browse, bob, publish_scripts):
    calls = ("count a.csv --size 4 --json", "count a.csv --size 4 --lost")
    publish_scripts(body="".join(f"\n    python scripts/tables.py {each}\n" for each in calls), tables=TABLES)
    client = browse(bob)
    (sample,) = part(client.get(ADDRESS), "samples").select("a")
    page = client.get(ADDRESS + html.unescape(sample.attributes["href"]))
    names = _named(page)
    assert select(page, "input", name=names["--size"])[0].attributes["value"] == "4"
    assert _request(page)["arguments"] == ["count", "a.csv", "--size", "4", "--json"]


@pytest.mark.parametrize(
    ("limits", "value", "code", "line"),
    [
        ((2, 2), "a\nb\nc", "count", None),
        ((2, None), "a", "count", None),
        ((0, 2), "a\nb\nc", "count", None),
        ((2, 3), "a", "count", None),
        ((2, 2, True), "a b\n\nc", "count", 3),
        ((2, None, True), "a b c\nd", "count", 2),
        ((2, 2, True), "a b\n'c d", "quotes", 2),
    ],
)
def test_wrong_values_are_errors_with_their_count_and_line(limits, value, code, line):
    least, most, repeated = (*limits, False)[:3]
    field = ValuesField(Parameter("p", "p", ("-p",), min_values=least, max_values=most, repeated=repeated))
    with pytest.raises(ValidationError) as raised:
        field.clean(value)
    (error,) = raised.value.error_list
    params = error.params or {}
    assert (error.code, params["number"]) == (code, line)
    (text,) = raised.value.messages
    numbers = {int(found) for found in re.findall(r"\d+", text)}
    counted = {params.get("count"), most or least, line} if code == "count" else {line}
    assert counted - {None} <= numbers
    assert "∞" not in text
