"""``bench memory``: what the processes of a site's workers hold over many runs. See README.md."""

from __future__ import annotations

from statistics import median

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--every", type=int, default=250, help="runs between two looks")
    parser.add_argument("--processes", type=int, default=2)


def measure(options, *, say=lambda line: None):
    """A site of its own, on SQLite and the broker in files, with its workers as ``up`` starts them."""
    asked = {name: options[name] for name in ("runs", "every", "processes")}
    looks = _scratch.run("bench._memory", asked, database="", say=lambda line: say("starting a site"))
    return {"bench": "memory", **asked, "looks": looks, "mb_per_1000_runs": _slopes(looks)}


def _slopes(looks):
    """Of the later half, where everything is loaded: how much each kind of process grows in 1,000 runs."""
    later = looks[len(looks) // 2 :]
    return {name: round(_slope([(look["runs"], look[name]) for look in later]), 2) for name in _KINDS}


_KINDS = ("supervisor", "worker", "children")


def _slope(points):
    pairs = [(a, b) for i, a in enumerate(points) for b in points[i + 1 :]]
    return median((b[1] - a[1]) / (b[0] - a[0]) * 1000 for a, b in pairs) if pairs else 0.0


def lines(document):
    yield "resident MB after so many runs (children: the largest of the pool)"
    for look in document["looks"]:
        yield f"  {look['runs']:>6}" + "".join(f"   {name} {look[name]:7.1f}" for name in _KINDS)
    slopes = ", ".join(f"{name} {mb:+.2f}" for name, mb in document["mb_per_1000_runs"].items())
    yield f"MB per 1,000 runs, over the later half: {slopes}"
