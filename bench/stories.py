"""``bench stories``: clicks and seconds of common tasks, done in chromium on a new site. See README.md."""

from __future__ import annotations

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--only", nargs="*", default=[], help="names of stories; default: all")
    parser.add_argument("--screenshots", default="", help="folder for a screenshot of the end of each story")


def measure(options, *, log=lambda line: None):
    log("starting a site and a browser; this takes a minute")
    arguments = {"only": options["only"], "screenshots": options["screenshots"]}
    return {"bench": "stories", "stories": _scratch.run("bench._stories", arguments, database="", log=log)}


def lines(document):
    yield f"{'story':<46}{'clicks':>7}{'goal':>6}{'s':>7}  result"
    for row in document["stories"]:
        clicks = "–" if row["clicks"] is None else row["clicks"]
        ok = not row["problem"] and row["clicks"] <= row["goal"]
        result = row["problem"] or ("ok" if ok else "more clicks than the goal")
        yield f"{row['story']:<46}{clicks:>7}{row['goal']:>6}{row['seconds']:>7.1f}  {result}"
    slow = document["stories"]
    yield f"all: {sum(row['seconds'] for row in slow):.1f} s, load of the machine included"
