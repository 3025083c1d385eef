"""The main job in a browser against the whole house, with scripts and without."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from portal.pages.runs.presenters.timeline import PLATFORM
from registry.packages.archive.repack import repack
from registry.packages.read_package import read_files
from tests import cluster, migrated
from tests.factories.skills import hostile_files

pytestmark = [
    pytest.mark.slow("a whole site and a browser"),
    pytest.mark.browser,
    pytest.mark.row("P3", "P5", "P8", "P11"),
]
ROOT = Path(__file__).resolve().parent.parent.parent

SKILL_MD = """---
name: word-count
displayName: 词频统计
description: Counts the words of a text and leaves a table behind.
version: 1.0.0
tags: [text, 统计]
input_schema:
  type: object
  required: [text]
  properties:
    text: {type: string, title: Text, description: What to count}
    top: {type: integer, minimum: 0, maximum: 50, default: 5, title: How many}
    order: {type: string, enum: [count, alphabet], default: count}
    skip: {type: array, items: {type: string}, title: Words to leave out}
    input_path: {type: string, title: A file instead}
    output_dir: {type: string}
---

# Word count

Counts words.
"""
SCRIPT = r"""
    import json, sys, time
    from collections import Counter
    given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    words = Counter(given["--text"].split())
    for number, word in enumerate(words, 1):
        print(f"{number * 100 // len(words)}% complete", file=sys.stderr, flush=True)
        print("read", word, flush=True)
        time.sleep(1)
    with open(given["--output-dir"] + "/table.csv", "w") as file:
        file.writelines(f"{word},{count}\n" for word, count in words.most_common())
    print(json.dumps({"words": len(words), "top": dict(words.most_common(int(given["--top"])))}))
"""
FILES = {"SKILL.md": SKILL_MD.encode(), "scripts/count.py": textwrap.dedent(SCRIPT).encode()}
EVIL = "<script>alert('x')</script>\u202e"
EVIL_SCRIPT = r"""
    import json, sys
    evil = "<script>alert('x')</script>\u202e\x1b[31m"
    print(evil, file=sys.stderr)
    print(evil)
    folder = sys.argv[sys.argv.index("--output-dir") + 1]
    open(folder + "/evil<img src=x onerror=alert(1)>.svg", "w").write("<svg onload=alert(2)>")
    print(json.dumps({evil: [evil, {evil: evil}], "link": "javascript:alert(3)"}))
"""
_PEOPLE = """
from registry.models import Membership, Team, User
team = Team.objects.create(slug="docs", name="Docs")
for name in ("alice", "bob"):
    user = User.objects.create_user(name, password=name + "-password")
    Membership.objects.create(team=team, user=user, role="owner")
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[str]:
    """``manage.py up`` with a folder of its own, as ``make run`` starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    var = tmp_path_factory.mktemp("house")
    told = {"SKILLQUAY_VAR": str(var), "SKILLQUAY_PORT": str(port), "SKILLQUAY_EXAMPLES": "0"}
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SKILLQUAY", "DJANGO"))
    }
    with cluster.corner() as corner:
        yield from _served({**environment, **told, **corner}, var, port)


def _served(environment: dict[str, str], var: Path, port: int) -> Iterator[str]:
    manage = [sys.executable, "manage.py"]
    migrated.lay(environment)
    subprocess.run(
        [*manage, "shell", "-v0", "-c", _PEOPLE],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with open(var / "log", "wb") as log:
        up = subprocess.Popen([*manage, "up"], cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}"
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(30)


def _wait_for(address: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(address)


@pytest.fixture
def server(house) -> str:
    return house


def _enter(page: Any, name: str, then: str) -> None:
    page.goto(f"/sign-in/?next={then}")
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", f"{name}-password")
    page.click("main form button")


def _archive(files: dict[str, bytes]) -> dict[str, Any]:
    data = repack(read_files(list(files.items())).files)
    return {"name": "skill.zip", "mimeType": "application/zip", "buffer": data}


def test_publish_a_folder_run_it_watch_and_download(page, tmp_path, axe):
    for path, data in FILES.items():
        target = tmp_path / "word-count" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    _enter(page, "bob", "/publish/")
    axe()
    page.set_input_files("#id_folder", tmp_path / "word-count")
    page.click("p.row button[name=check]")
    page.wait_for_selector("[data-part=preview][data-state=ready]")
    axe()
    page.click("button[name=publish] >> nth=0")
    page.wait_for_selector("[data-part=message][data-kind=success]:has-text('docs/word-count@1.0.0')")
    page.goto("/skills/?q=统计")
    page.click("main >> text=词频统计")
    page.click(".page-title a.primary")
    page.wait_for_selector("text=How many")
    axe()
    page.click("button[name=run]")
    page.wait_for_selector(".error-summary")
    axe()
    page.fill("#id_input-0", "one two two three 三 三 三 four five six")
    page.click("button[name=run]")
    page.wait_for_url("**/runs/*/")
    page.wait_for_selector("progress[value]")
    page.wait_for_selector("text=read one")
    assert page.locator("#log[role=log]").count() == 1
    assert page.locator("text=read six").count() == 0
    page.wait_for_selector("text=table.csv", timeout=40_000)
    assert page.locator(f"#run-steps >> text={PLATFORM['execute']}").count() == 1
    axe()
    with page.expect_download() as download:
        page.click("text=table.csv")
    assert Path(download.value.path()).read_text().splitlines()[0] == "三,3"
    page.click("[data-action=change-and-run]")
    page.wait_for_selector("[data-part=filled-in]")
    assert page.input_value("#id_input-0").startswith("one two")


@pytest.mark.full
def test_the_whole_path_without_scripts(browser, house):
    context = browser.new_context(base_url=house, java_script_enabled=False)
    page = context.new_page()
    _enter(page, "alice", "/publish/")
    page.set_input_files(
        "#id_archive", _archive({**FILES, "SKILL.md": SKILL_MD.replace("word-count", "quiet-count").encode()})
    )
    page.click("p.row button[name=check]")
    page.click("button[name=publish] >> nth=0")
    page.goto("/skills/docs/quiet-count/run/")
    page.fill("#id_input-0", "a b")
    page.click("button[name=run]")
    page.wait_for_selector("text=table.csv", timeout=30_000)  # the page refreshes itself
    assert page.locator("#log >> text=read b").count() == 1
    assert page.locator("meta[http-equiv=refresh]").count() == 0
    context.close()


@pytest.mark.full
def test_a_hostile_package_is_walked_through_every_page(page):
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    files = {path: data for path, data in hostile_files().items() if not path.startswith("scripts/")}
    files["scripts/run.py"] = textwrap.dedent(EVIL_SCRIPT).encode()
    _enter(page, "alice", "/publish/")
    page.set_input_files("#id_archive", _archive(files))
    page.click("p.row button[name=check]")
    _walk(page, ["/publish/"], reload=False)
    page.click("button[name=publish] >> nth=0")
    page.wait_for_url("**/1.0.0/")
    skill = page.url.removesuffix("1.0.0/")
    page.goto(f"{skill}run/")
    page.fill("input[name='key-0']", "output_dir")
    page.fill("[name='value-0-text']", EVIL)
    page.click("[data-part=advanced] > summary")
    page.fill("[name=stdin]", EVIL)
    page.click("button[name=run]")
    page.wait_for_selector("text=evil<img", timeout=20_000)
    run = page.url
    uid = run.rstrip("/").rpartition("/")[2]
    of_skill = [
        "",
        "versions/",
        "1.0.0/",
        "1.0.0/files/",
        "runs/",
        "use/",
        f"run/?rerun_of={uid}",
        f"run/?rerun_of={uid}&format=json",
    ]
    _walk(page, [run, f"{run}log/", "/runs/", "/skills/", "/", *(skill + path for path in of_skill)])


def _walk(page: Any, addresses: list[str], *, reload: bool = True) -> None:
    """Opens all there is to open on each page; nothing that could act came from the package."""
    for address in addresses:
        if reload:
            page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert (
            page.locator("main script, main iframe, main [onload], main [onerror], main object").count() == 0
        ), address
        for scheme in page.locator("main a").evaluate_all("all => all.map((one) => one.protocol)"):
            assert scheme in ("http:", "https:"), address
