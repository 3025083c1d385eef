"""``bench starvation``: whether a new useful skill is ever listed among many that are used. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=300, help="used for months before the new ones come")
    parser.add_argument("--new", type=int, default=20, help="that are published, a quarter of them useful")
    parser.add_argument("--weeks", type=int, default=8)
    parser.add_argument("--requests", type=int, default=60, help="of agents, a day")
    parser.add_argument("--seed", type=int, default=9)


def measure(options, *, say=lambda line: None):
    names = ("skills", "new", "weeks", "requests", "seed")
    asked = {name: options[name] for name in names}
    found = _scratch.run("bench._starvation", asked, database="", say=say)
    return {"bench": "starvation", **asked, **found}


def lines(document):
    for order, row in document["orders"].items():
        yield f"{order}: {row['places']} places of {document['skills'] + document['new']} skills"
        for kind, figures in row["kinds"].items():
            yield f"  {kind:<20}" + ", ".join(f"{name} {value}" for name, value in figures.items())
