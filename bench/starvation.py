"""``bench starvation``: whether useful new skills are listed among many used skills. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--skills", type=int, default=300, help="skills with months of earlier use")
    parser.add_argument("--new", type=int, default=20, help="new skills; a quarter of them are useful")
    parser.add_argument("--weeks", type=int, default=8)
    parser.add_argument("--requests", type=int, default=60, help="requests by agents per day")
    parser.add_argument("--seed", type=int, default=9)


def measure(options, *, log=lambda line: None):
    names = ("skills", "new", "weeks", "requests", "seed")
    arguments = {name: options[name] for name in names}
    found = _scratch.run("bench._starvation", arguments, database="", log=log)
    return {"bench": "starvation", **arguments, **found}


def lines(document):
    for order, row in document["orders"].items():
        yield f"{order}: {row['places']} places of {document['skills'] + document['new']} skills"
        for kind, figures in row["kinds"].items():
            yield f"  {kind:<20}" + ", ".join(f"{name} {value}" for name, value in figures.items())
