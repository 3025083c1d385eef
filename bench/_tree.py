"""Measures the time to store a tree of skills without import, to import it, and to import it again
unchanged.
"""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import gzip
import json
import random
import sys
import time
from pathlib import Path

import django

django.setup()

from django.core.management import call_command

from registry.core.limits import package_limits
from registry.identity.actors import administrator_actor
from registry.imports import run_import, sources
from registry.imports.report import count_outcomes
from registry.models import Team
from registry.packages.archive.folders import folder_entries
from registry.packages.archive.layout import lay_out
from registry.packages.archive.repack import repack
from registry.storage import blobs

WORDS = ("report", "table", "figure", "review", "weekly", "branch", "deploy", "image", "chart", "query")
SCRIPT = 'import json, sys\n\nprint(json.dumps({{"skill": "{slug}", "arguments": sys.argv[1:]}}))\n'


def main():
    options = json.loads(sys.argv[1])
    tree = Path(options["folder"], "tree", "skills")
    files, size = _make(tree, options["skills"], Path(options["corpus"]))
    call_command("migrate", verbosity=0)
    team, actor = Team.objects.create(slug="bench", name="Bench"), administrator_actor()
    raw = _time(lambda: _store(tree))
    for blob in list(blobs.digests()):
        blobs.backend().local_path(blob.partition(":")[2]).unlink()
    source = sources.prepare_source(actor, team=team, kind="folder", location=str(tree.parent))
    source = sources.save_source(source, actor)
    first = _time(lambda: _import(source, actor, "published", options["skills"]))
    again = _time(lambda: _import(source, actor, "unchanged", options["skills"]))
    times = {"first": first, "again": again, "raw": raw}
    print(json.dumps({"times": times, "files": files, "bytes": size}))


def _make(tree, count, corpus):
    """Creates a folder of one to five files for each skill; returns the number of files and of bytes.

    Texts come from the corpus, or are random words if the corpus does not exist.
    """
    chance, files, size = random.Random(7), 0, 0
    for number, (name, description, body) in enumerate(_skills(corpus, count, chance)):
        slug = f"{name[:55]}-{number}"
        folder = tree / slug
        head = f"---\nname: {slug}\ndescription: {json.dumps(description, ensure_ascii=False)}\n---\n\n"
        texts = {"SKILL.md": head + body}
        if number % 3 == 0:
            texts["scripts/main.py"] = SCRIPT.format(slug=slug)
        for extra in range(number % 4):
            texts[f"references/{extra}.md"] = f"# {slug} {extra}\n\n" + body[:2000]
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            files, size = files + 1, size + len(text.encode())
    return files, size


def _skills(corpus, count, chance):
    if not corpus.is_file():
        for number in range(count):
            text = " ".join(chance.choices(WORDS, k=600))
            yield f"skill-{number}", " ".join(chance.choices(WORDS, k=20)), f"# Skill\n\n{text}\n"
        return
    with gzip.open(corpus, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    for number in range(count):
        row = rows[number % len(rows)]
        yield row["slug"], row["description"] or row["name"], row["body"] or "Empty.\n"


def _store(tree):
    """Does the minimum work of an import: reads, lays out and repacks each folder, and stores the archive."""
    for folder in sorted(tree.iterdir()):
        layout = lay_out(folder_entries(folder, package_limits()), package_limits(), repacked=True)
        blobs.store(repack(layout.files))


def _import(source, actor, outcome, count):
    report = run_import.import_now(source, actor)
    counts = count_outcomes(report)
    if counts[outcome] < count * 0.98:
        raise SystemExit(f"imported otherwise than meant: {report.status} {counts} {report.problems}")


def _time(act):
    """Wall time and CPU time of this process in seconds; the latter includes SQLite."""
    begun, worked = time.perf_counter(), time.process_time()
    act()
    return [time.perf_counter() - begun, time.process_time() - worked]


if __name__ == "__main__":
    main()
