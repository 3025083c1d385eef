"""``bench publish``: publishers at once, with and without the triggers of change numbers. See README.md."""

from __future__ import annotations

from bench import _load, _scratch


def add_arguments(parser):
    parser.add_argument("--publishers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="seconds per kind of write, with and without")
    parser.add_argument("--database", default="", help="postgres://… of an empty database; default: SQLite")


def measure(options, *, log=lambda line: None):
    """Raises RuntimeError if a publisher fails for another reason than a lock."""
    arguments = {name: options[name] for name in ("publishers", "rounds", "seconds")}
    found = _scratch.run("bench._publish", arguments, database=options["database"], log=lambda line: None)
    return {
        "bench": "publish",
        "database": found["database"],
        **arguments,
        "rows": [_row(kind, found["rounds"]) for kind in found["rounds"][0]],
    }


def _row(kind, rounds):
    """The rates are medians; the ratio is that of the round in the middle, with minimum and maximum."""
    pairs = [each[kind] for each in rounds]
    ratio = _load.spread([pair["with"]["rate"] / pair["without"]["rate"] for pair in pairs])
    return {
        "kind": kind,
        **{
            name: round(_load.spread([pair[name]["rate"] for pair in pairs])["median"], 1)
            for name in pairs[0]
        },
        "ratio": {name: round(value, 3) for name, value in ratio.items()},
        "refused_by_locks": sum(each["refused_by_locks"] for pair in pairs for each in pair.values()),
    }


def lines(document):
    yield f"{document['database']}, {document['publishers']} publishers, {document['rounds']} rounds"
    yield f"{'writes per second':22}{'with triggers':>15}{'without':>10}  ratio"
    for row in document["rows"]:
        ratio = row["ratio"]
        yield (
            f"{row['kind']:22}{row['with']:>15,.1f}{row['without']:>10,.1f}  "
            f"{ratio['median']:.3f} [{ratio['min']:.2f} to {ratio['max']:.2f}]; "
            f"{row['refused_by_locks']} refused by locks"
        )
