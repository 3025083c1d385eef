"""A tree of skills is made, stored raw, imported and imported again, in a process with a site of its own."""

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

from registry import storage
from registry.actors import administrator_actor
from registry.imports import engine, sources
from registry.imports.report import counts_of
from registry.limits import package_limits
from registry.models import Team
from registry.packages.folders import folder_entries
from registry.packages.layout import lay_out
from registry.packages.repack import repack

WORDS = ("report", "table", "figure", "review", "weekly", "branch", "deploy", "image", "chart", "query")
SCRIPT = 'import json, sys\n\nprint(json.dumps({{"skill": "{slug}", "arguments": sys.argv[1:]}}))\n'


def main():
    asked = json.loads(sys.argv[1])
    tree = Path(asked["folder"], "tree", "skills")
    files, size = _make(tree, asked["skills"], Path(asked["corpus"]))
    call_command("migrate", verbosity=0)
    team, actor = Team.objects.create(slug="bench", name="Bench"), administrator_actor()
    raw = _timed(lambda: _store(tree))
    for blob in list(storage.digests()):
        storage.place().local_path(blob.partition(":")[2]).unlink()
    source = sources.described(actor, team=team, kind="folder", location=str(tree.parent))
    source = sources.keep(source, actor)
    first = _timed(lambda: _import(source, actor, "published", asked["skills"]))
    again = _timed(lambda: _import(source, actor, "unchanged", asked["skills"]))
    times = {"first": first, "again": again, "raw": raw}
    print(json.dumps({"times": times, "files": files, "bytes": size}))


def _make(tree, count, corpus):
    """Folders of one to four files; bodies are those of the corpus, or words."""
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
    """What no import can do without: read, lay out, pack again, write to disk for good."""
    for folder in sorted(tree.iterdir()):
        layout = lay_out(folder_entries(folder, package_limits()), package_limits(), repacked=True)
        storage.store(repack(layout.files))


def _import(source, actor, outcome, count):
    report = engine.run_here(source, actor)
    counts = counts_of(report)
    if counts[outcome] < count * 0.98:
        raise SystemExit(f"imported otherwise than meant: {report.status} {counts} {report.problems}")


def _timed(act):
    """Seconds of the clock and of this process, in which SQLite runs too."""
    begun, worked = time.perf_counter(), time.process_time()
    act()
    return [time.perf_counter() - begun, time.process_time() - worked]


if __name__ == "__main__":
    main()
