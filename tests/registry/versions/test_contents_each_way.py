"""What a version contains and what its scan found, on its pages, in the API and from the command line."""

from __future__ import annotations

import pytest

from tests.factories.skills import publish_files
from tests.pages import part, parts
from tests.ways import WAYS, caller

pytestmark = [pytest.mark.django_db, pytest.mark.parametrize("way", WAYS)]
HEAD = "---\nname: seeds\ndescription: For tests.\nversion: 1.0.0\nallowed-tools: Read\n---\n"
VERSION = "skills/docs/seeds/versions/1.0.0"
PAGE = "/skills/docs/seeds/"


@pytest.fixture
def publish(team, alice, client):
    """``publish(body, files)``: publishes docs/seeds as Alice, who is signed in."""
    client.force_login(alice)

    def publish(body, files=None):
        content = {"SKILL.md": HEAD + body, **(files or {})}
        publish_files({path: text.encode() for path, text in content.items()}, team=team, user=alice)

    return publish


@pytest.mark.row("A4")
def test_scripts_of_phases_and_actions_are_listed(way, publish, client):
    phase = "## Scripts\n\n- report\n- report.py\n- 汇总\n- gone.py\n"
    files = {"scripts/report.py": "print(1)\n", "scripts/汇总.py": "print(2)\n"}
    files |= {"phases/1.md": phase, "actions/2.md": phase}
    publish("# Seeds\n", files)
    if way == "page":
        card = part(client.get(PAGE), "phases")
        paths = [each.text for each in card.tags("dt")]
        shown = [
            ([one.text for one in each.tags("code")], len(each.parts("missing"))) for each in card.tags("dd")
        ]
    else:
        phases = caller(way, client)("GET", VERSION)["phases"]
        paths = [each["path"] for each in phases]
        shown = [
            ([one["id"] for one in each["scripts"]], sum(one["missing"] for one in each["scripts"]))
            for each in phases
        ]
    assert paths == ["actions/2.md", "phases/1.md"]
    assert shown == [(["report", "report.py", "汇总", "gone.py"], 1)] * 2


@pytest.mark.row("A4")
def test_specs_are_documentation(way, publish, client):
    publish("# Seeds\n", {"specs/format.md": "# Format\n\nOne row a line.\n", "specs/table.csv": "a,b\n"})
    if way == "page":
        [link] = part(client.get(PAGE), "specs").tags("a")
        [heading] = part(client.get(link["href"]), "document").tags("h2")
        assert (link.text, heading.text) == ("specs/format.md", "Format")
    else:
        assert caller(way, client)("GET", VERSION)["specs"] == ["specs/format.md"]


@pytest.mark.row("D4", "P3")
@pytest.mark.parametrize(("body", "rules"), [
    ("Write ``!`git log` ``, `` a !`git log` b `` or `foo`!`bar`, or wow!`git log`.\n", []),
    ("Now !`git log`.\n", ["tools-beyond"]),
])  # fmt: skip
def test_only_a_command_is_a_tool_that_the_package_omits(way, publish, client, body, rules):
    publish(body)
    if way == "page":
        assert [each["value"] for each in parts(client.get(f"{PAGE}1.0.0/findings/"), "finding")] == rules
        assert len(parts(client.get(f"{PAGE}use/"), "commands")) == len(rules)
    else:
        items = caller(way, client)("GET", f"{VERSION}/findings")["items"]
        assert [each["rule"] for each in items] == rules
