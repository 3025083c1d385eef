"""The rows of a match: abilities, needs, and texts as agents read them."""

from __future__ import annotations

import pytest

from registry.identity.actors import Actor
from registry.matching.documents import match_document
from registry.packages.package import PackageFile, Security, Triggers

pytestmark = [pytest.mark.django_db, pytest.mark.row("C4")]


def test_each_row_says_what_can_be_done_and_what_it_needs(publish_skill, ask, alice, charlie):
    publish_skill(
        "pottery",
        description="Pottery.",
        visibility="site",
        files=(PackageFile("scripts/main.py", b"print()"),),
        input_schema={"type": "object", "properties": {"clay_path": {"type": "string"}}},
        security=Security(network="allowlist", network_allowlist=("clay.example",), secrets=("KILN",)),
    )
    publish_skill("vases", description="Vases.")
    (row,) = match_document(ask("pottery"), Actor(user=alice))["results"]
    assert row["can"] == {"load": True, "run": True}
    assert row["needs"] == {"approval": False, "secret": True, "files": True, "network": True}
    assert row["input_schema"].endswith("/api/v1/skills/docs/pottery/versions/1.0.0")
    (row,) = match_document(ask("vases"), Actor(user=alice))["results"]
    assert row["can"] == {"load": True, "run": False}
    assert not any(row["needs"].values())
    assert row["input_schema"] is None


@pytest.mark.row("C3", "D5")
@pytest.mark.parametrize(
    ("said", "files", "runs"),
    [
        ({"type": "service", "endpoints": ("https://pots.example/",)}, (), True),
        ({"context": "fork"}, (), True),
        ({"context": "inline"}, (), False),
        ({"type": "static"}, (PackageFile("scripts/main.py", b"print()"),), False),
    ],
)
def test_what_answers_without_a_script_can_be_run_and_a_static_skill_cannot(
    publish_skill, ask, alice, said, files, runs
):
    publish_skill("pottery", description="Pottery.", files=files, **said)
    (row,) = match_document(ask("pottery"), Actor(user=alice))["results"]
    assert row["can"] == {"load": True, "run": runs}


@pytest.mark.row("D7")
def test_what_publishers_wrote_is_told_to_agents_in_one_line_of_what_readers_see(publish_skill, ask, alice):
    unseen = "\n\u202e\U000e0041\x1b"
    publish_skill(
        "kite",
        name=f"Kite{unseen} string",
        description=f"Winds{unseen} strings. " + 5000 * "x",
        triggers=Triggers(phrases=(f"wind{unseen} up the kite",)),
    )
    (row,) = match_document(ask("please wind up the kite"), Actor(user=alice))["results"]
    assert row["name"] == "Kite string"
    assert row["reasons"][0]["text"] == "wind up the kite"
    assert row["description"] == "Winds strings. " + 1008 * "x" + "…"
