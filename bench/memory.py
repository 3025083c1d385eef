"""``bench memory``: memory of a site's processes over many runs. See README.md."""

from __future__ import annotations

from statistics import median

from bench import _scratch


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--every", type=int, default=250, help="runs between two samples")
    parser.add_argument("--processes", type=int, default=2)


def measure(options, *, log=lambda line: None):
    """Measures a separate site on SQLite and the embedded broker, started by ``manage.py up``."""
    arguments = {name: options[name] for name in ("runs", "every", "processes")}
    samples = _scratch.run("bench._memory", arguments, database="", log=lambda line: log("starting a site"))
    return {"bench": "memory", **arguments, "looks": samples, "mb_per_1000_runs": _slopes(samples)}


def _slopes(samples):
    """The growth in MiB per 1,000 runs of each kind of process, over the later half of the samples."""
    later = samples[len(samples) // 2 :]
    return {name: round(_slope([(sample["runs"], sample[name]) for sample in later]), 2) for name in _KINDS}


_KINDS = ("supervisor", "worker", "children")


def _slope(points):
    pairs = [(a, b) for i, a in enumerate(points) for b in points[i + 1 :]]
    return median((b[1] - a[1]) / (b[0] - a[0]) * 1000 for a, b in pairs) if pairs else 0.0


def lines(document):
    yield "resident MB after so many runs (children: the largest of the pool)"
    for sample in document["looks"]:
        yield f"  {sample['runs']:>6}" + "".join(f"   {name} {sample[name]:7.1f}" for name in _KINDS)
    slopes = ", ".join(f"{name} {mb:+.2f}" for name, mb in document["mb_per_1000_runs"].items())
    yield f"MB per 1,000 runs, over the later half: {slopes}"
