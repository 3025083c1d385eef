"""What a run left and did, by its kind: tables, trees, pictures, texts, steps of every kind."""

from __future__ import annotations

import pytest

from portal.pages.runs.presenters.artifacts import image_type
from tests.factories.runs import add_artifact, add_log, add_step, make_run
from tests.pages import part, parts

pytestmark = [pytest.mark.django_db, pytest.mark.row("A5", "B2", "C11")]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


@pytest.fixture
def run(public, bob, team):
    return make_run(public.latest, bob, team)


@pytest.mark.parametrize(
    ("path", "data", "texts"),
    [
        ("a.csv", "城市,温度\n北京,18\n".encode(), ['<th scope="col">', "城市", "18"]),
        ("a.tsv", b"a\tb\n1\t2\n", ['aria-label="Table"', '<th scope="col">']),
        ("a.json", b'{"key": [1, {"deep": true}]}', ['<span class="key">', "deep"]),
        ("a.json", b"{broken", ["{broken"]),
        ("a.md", b"# Title\n\n<script>alert(1)</script> [x](javascript:alert(2))", ["<h2>Title</h2>"]),
        ("a.txt", b"one <b>line</b>", ["one &lt;b&gt;line"]),
        ("a.csv", b"alone", ["alone"]),
        ("a.png", PNG, ['loading="lazy"', "/images/a.png"]),
    ],
)
def test_a_file_is_shown_by_its_kind(browse, bob, run, path, data, texts):
    add_artifact(run, path, data)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert all(text in page for text in texts)
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


def test_the_stack_of_what_was_thrown_is_shown_line_by_line(browse, bob, public, team):
    error = {"code": "INTERNAL_ERROR", "message": "no", "details": {"name": "E", "stack": "E: <no>\n  at f"}}
    failed = make_run(
        public.latest, bob, team, status="failed", failure_code="INTERNAL_ERROR", result={"error": error}
    )
    page = browse(bob).get(f"/runs/{failed.uid}/")
    assert "E: &lt;no&gt;\n  at f" in page.text
    assert "E: <no> at f" in part(page, "error-details")


@pytest.mark.parametrize("path", ["a.bin", "a.svg", "a.html", "a.txt"])
def test_a_file_that_no_page_can_show_is_a_download_alone(browse, bob, run, path):
    add_artifact(run, path, b"\xff\xfe<svg onload=alert(1)>")
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert f'href="/runs/{run.uid}/artifacts/{path}" download' in page
    assert "<img" not in page
    assert "onload" not in page


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF0000WEBPVP8 ", "image/webp"),
        (b"<svg xmlns=", ""),
        (b"<html><script>", ""),
        (b"", ""),
    ],
)
def test_a_picture_is_known_by_its_first_bytes_not_its_name(browse, bob, charlie, run, data, kind):
    assert image_type(data) == kind
    add_artifact(run, "a.png", data)
    answer = browse(bob).get(f"/runs/{run.uid}/images/a.png")
    assert answer.status_code == (200 if kind else 404)
    if kind:
        assert answer["Content-Type"] == kind
        assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer.getvalue() == data
    assert browse(charlie).get(f"/runs/{run.uid}/images/a.png").status_code == 404


def test_steps_say_their_kind_their_error_and_the_run_they_started(browse, bob, public, team, run):
    child = make_run(public.latest, bob, team, parent=run, depth=1)
    error = {"name": "RangeError", "message": "off by one", "stack": "at line 3"}
    add_step(run, 0, "checks", input={"n": 1}, output={"ok": False}, error=error)
    add_step(run, 1, "asks another", kind="child", child=child)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    for text in ("RangeError: off by one", "at line 3"):
        assert text in page
    [started] = [step for step in parts(page, "step") if parts(step, "step-kind")]
    assert f"/runs/{child.uid}/" in [link["href"] for link in started.tags("a")]
    steps = browse(bob).get(f"/api/v1/runs/{run.uid}").json()["steps"]
    own = {step["name"]: step for step in steps if step["kind"] != "platform"}
    assert (own["checks"]["input"], own["checks"]["error"]) == ({"n": 1}, error)
    assert own["asks another"]["child"] == child.uid


@pytest.mark.row("B2")
def test_what_an_answer_says_of_itself_is_named(browse, bob, public, team):
    result = {"output": {"n": 1}, "metadata": {"execution_time_ms": 1234, "items_count": 10, "own": "x"}}
    run = make_run(public.latest, bob, team, protocol="stdin_json", result=result)
    page = browse(bob).get(f"/runs/{run.uid}/").text
    terms = [term.text for term in part(page, "metadata").tags("dt")]
    assert (len(terms), terms[2]) == (3, "own")
    assert not {"execution_time_ms", "items_count"} & set(terms)
    assert [value.text for value in part(page, "metadata").tags("dd")] == ["1234", "10", "x"]
    assert browse(bob).get(f"/api/v1/runs/{run.uid}").json()["metadata"] == result["metadata"]


@pytest.mark.row("B6")
def test_every_line_of_the_log_has_an_address(browse, bob, run):
    add_log(run, ("stderr", "one\ntwo\n"))
    page = browse(bob).get(f"/runs/{run.uid}/").text
    assert f'href="/runs/{run.uid}/log/?attempt=1&amp;line=2#L2"' in page
