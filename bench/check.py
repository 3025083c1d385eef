"""``bench check``: the time to validate a package. See README.md."""

from __future__ import annotations

import gzip
import json
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

EVAL = Path(__file__).resolve().parent.parent.parent / "shared" / "eval"


def add_arguments(parser):
    parser.add_argument("paths", nargs="*", metavar="PATH", help="packages, or folders of packages")
    parser.add_argument("--corpus", default=str(EVAL / "corpus.jsonl.gz"), help="JSON Lines of skills")
    parser.add_argument("--profile", default=None, help="check against this profile")


def measure(options, *, log=lambda line: None):
    """Checks every package as ``check_package --json`` does, and packages of the corpus both as zip and as
    folder.
    """
    if options["paths"]:
        return _measure({"given": _package_paths(options["paths"])}, options["profile"])
    if not Path(options["corpus"]).is_file():
        raise RuntimeError(f"{options['corpus']} does not exist: name a file with --corpus")
    with tempfile.TemporaryDirectory(prefix="skillquay-bench-") as folder:
        log("making the packages")
        kinds = _corpus_packages(Path(options["corpus"]), Path(folder))
        return _measure(kinds, options["profile"])


def _package_paths(paths):
    """Yields the paths of packages; for a folder without SKILL.md, the paths of its entries."""
    for path in map(Path, paths):
        if path.is_dir() and not any(item.name.lower() == "skill.md" for item in path.iterdir()):
            yield from sorted(path.iterdir())
        else:
            yield path


def _corpus_packages(corpus, folder):
    from registry.packages.archive.repack import repack
    from registry.packages.package import PackageFile

    kinds = {"zip": [], "folder": []}
    opened = gzip.open if corpus.suffix == ".gz" else open
    with opened(corpus, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            skill = _skill_md(json.loads(line))
            archive = folder / f"{number}.zip"
            archive.write_bytes(repack([PackageFile("SKILL.md", skill)]))
            unpacked = folder / f"{number}"
            unpacked.mkdir()
            (unpacked / "SKILL.md").write_bytes(skill)
            kinds["zip"].append(archive)
            kinds["folder"].append(unpacked)
    return kinds


def _skill_md(row):
    """The bytes of a SKILL.md with unquoted values, as authors write them."""
    lines = ["---", f"name: {row['name']}", f"description: {' '.join(row['description'].split())}"]
    if row["tags"]:
        lines.append(f"tags: {', '.join(row['tags'])}")
    if row["phrases"]:
        lines += ["triggers:", *(f"  - {phrase}" for phrase in row["phrases"])]
    return "\n".join([*lines, "---", row["body"]]).encode("utf-8", "replace")


def _measure(kinds, profile):
    from registry.management.commands.check_package import check_path, package_document

    rows = {}
    for kind, paths in kinds.items():
        times, refusals, passed = [], Counter(), 0
        for path in paths:
            begun = time.perf_counter()
            document = package_document(check_path(str(path), profile))
            times.append((time.perf_counter() - begun) * 1000)
            passed += document["ok"]
            reasons = {one["code"] for one in document["problems"] if one["severity"] == "error"}
            if document["ok"] == bool(reasons):
                raise RuntimeError(f"{path} is refused without a reason")
            refusals.update(reasons)
        rows[kind] = _figures(times, refusals, passed)
    return {"bench": "check", "kinds": rows}


def _figures(times, refusals, passed):
    times = sorted(times) or [0.0]
    return {
        "packages": len(times),
        "passed": passed,
        "refusals": dict(refusals.most_common()),
        "mean_ms": round(statistics.fmean(times), 3),
        "p50_ms": round(times[len(times) // 2], 3),
        "p99_ms": round(times[len(times) * 99 // 100], 3),
        "max_ms": round(times[-1], 3),
    }


def lines(document):
    for kind, row in document["kinds"].items():
        share = 100 * row["passed"] / row["packages"]
        yield (
            f"{kind}: {row['packages']} packages, {share:.1f} % pass; mean {row['mean_ms']} ms, "
            f"p50 {row['p50_ms']}, p99 {row['p99_ms']}, max {row['max_ms']}"
        )
        yield from (f"  {code} {count}" for code, count in row["refusals"].items())
