"""``bench scan``: how many skills the scan flags and holds, and its time. See docs/reference/scanning.md."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from pathlib import Path

from registry.packages.package import Manifest, Package, PackageFile
from registry.packages.problems import Refusal
from registry.packages.read_package import read_folder
from registry.packages.scan.scan import scan

CORPUS = Path(__file__).resolve().parent.parent.parent / "shared" / "eval" / "corpus.jsonl.gz"


def add_arguments(parser):
    parser.add_argument("--corpus", default=str(CORPUS), help="JSON Lines of skills")
    parser.add_argument("--packages", help="scan the folders with a SKILL.md below this folder instead")
    parser.add_argument("--show", action="store_true", help="list the flagged skills with their rules")


def measure(options, *, log=lambda line: None):
    packages = _folders(options["packages"]) if options.get("packages") else _corpus(options["corpus"])
    times, flagged, held = [], [], []
    for package in packages:
        began = time.process_time()
        found = scan(package)
        times.append((time.process_time() - began) * 1000)
        if any(one.is_flagged for one in found):
            flagged.append(
                {
                    "slug": package.manifest.slug,
                    "rules": sorted({one.rule for one in found if one.is_flagged}),
                    "held_by": sorted({one.rule for one in found if one.certain}),
                }
            )
        held += [package.manifest.slug] if any(one.certain for one in found) else []
    return {
        "bench": "scan",
        "skills": len(packages),
        "flagged": len(flagged),
        "flagged_share": round(len(flagged) / len(packages), 4),
        "held": len(held),
        "held_share": round(len(held) / len(packages), 4),
        "cpu_ms": {"mean": round(sum(times) / len(times), 2), "most": round(max(times), 1)},
        "named": flagged if options["show"] else [],
    }


def _corpus(file):
    corpus = Path(file)
    if not corpus.is_file():
        raise RuntimeError(f"{corpus} does not exist: name a file with --corpus")
    opened = gzip.open if corpus.suffix == ".gz" else open
    with opened(corpus, "rt", encoding="utf-8") as lines:
        return [_package(json.loads(line)) for line in lines]


def _folders(folder):
    """The readable packages below the folder, without copies."""
    packages = {}
    for skill in sorted(Path(folder).rglob("SKILL.md")):
        with contextlib.suppress(Refusal):
            package = read_folder(skill.parent)
            packages.setdefault(tuple((file.path, file.data) for file in package.files), package)
    return list(packages.values())


def _package(row):
    name, said, body = row["name"], row["description"] or "", row["body"]
    text = f"---\nname: {name}\ndescription: {json.dumps(said, ensure_ascii=False)}\n---\n{body}"
    manifest = Manifest(slug=row["slug"], name=name, display_name=row["display"] or "", description=said)
    return Package((PackageFile("SKILL.md", text.encode()),), manifest, body, "agentskills", ())


def lines(document):
    share = f"{document['flagged_share']:.2%}"
    yield f"{document['skills']} skills, {document['flagged']} flagged ({share})"
    yield f"  {document['held']} held ({document['held_share']:.2%})"
    yield f"  processor    mean {document['cpu_ms']['mean']} ms, most {document['cpu_ms']['most']} ms"
    for one in document["named"]:
        yield f"  {one['slug']:<40} {', '.join(one['rules'])}"
