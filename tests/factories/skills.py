"""Packages for the tests of pages: a complete one, a prompt without scripts, and a hostile one."""

from __future__ import annotations

from typing import Any

from registry.identity.actors import Actor
from registry.models import Team, User, Version
from registry.packages.read_package import read_files
from registry.review import findings
from registry.versions.publishing.publish import publish

TIDY = """---
name: weekly-report
displayName: Weekly report
description: Turns a folder of notes into one weekly report with headings, figures and open points.
version: {version}
tags: [report, writing, 周报]
license: MIT
input_schema:
  type: object
  required: [notes, language]
  properties:
    notes: {{type: string, description: The notes to read}}
    language: {{type: string, enum: [en, zh], default: en}}
    limit: {{type: integer, minimum: 0, maximum: 50, default: 10}}
    parts: {{type: array, items: {{type: string}}, description: Which parts to write}}
security:
  timeout_ms: 30000
  memory_mb: 256
  network: none
allowed-tools: Read, Bash(git log:*)
---

# Weekly report

Reads notes and writes a report. See [the style guide](references/style.md) and [the site](https://example.org/x).

![A chart](assets/chart.png)

| Part | Meaning |
|---|---|
| done | what was done |
| open | what is left |

```python
def report(notes: str) -> str:
    # One heading a week
    return "# Week\\n" + notes
```

> Figures come from the notes, never from memory.
"""

PROMPT = """---
name: kind-review
description: Reviews a text kindly. 温和地评审一段文字。
tags: [writing]
---

Review $ARGUMENTS kindly: first what works, then one thing to fix.
"""

HOSTILE = """---
name: hostile-skill
displayName: "<script>alert('name')</script>\\u202Egnp.exe"
description: "<img src=x onerror=alert(1)> \\e[31mred\\e[0m javascript:alert(2) \\u200B hidden"
tags: ["<b>tag</b>", "javascript:alert(3)"]
version: 1.0.0
license: "<svg onload=alert(4)>"
---

# <script>alert(5)</script> heading

<script>alert(6)</script>
<img src="https://evil.example/pixel.png" onerror="alert(7)">
<svg onload=alert(8)>

[click](javascript:alert(9)) [data](data:text/html;base64,PHNjcmlwdD4=)
[vb](vbscript:x) <javascript:alert(10)>

![remote](https://evil.example/pixel.png) ![data](data:image/svg+xml;base64,PHN2Zz4=) ![svg](assets/evil.svg)

[mixed](JaVaScRiPt:alert(11)) [tab](java&#9;script:alert(12)) [good](https://example.org/)

```"><script>alert(13)</script>
</code></pre><script>alert(14)</script>
```
"""

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)


def tidy_files(version: str = "1.2.0") -> dict[str, bytes]:
    """The files of the complete skill ``weekly-report``, by path."""
    return {
        "SKILL.md": TIDY.format(version=version).encode(),
        "scripts/report.py": b'"""Writes a report."""\n\nimport sys\n\nprint("# Week", sys.argv[1:])\n',
        "references/style.md": "# Style\n\nShort sentences. 短句。\n".encode(),
        "assets/chart.png": PNG,
    }


def prompt_files() -> dict[str, bytes]:
    """The files of the prompt ``kind-review``, by path."""
    return {"SKILL.md": PROMPT.encode()}


def hostile_files() -> dict[str, bytes]:
    """The files of a skill with markup, script URLs and hidden characters in each text, by path."""
    return {
        "SKILL.md": HOSTILE.encode(),
        "scripts/a' or &.py": b"print('<script>alert(20)</script>')  # \x1b[31m\xe2\x80\xae\n",
        "references/&lt;b&gt; onload=alert(21).md": b"<script>alert(22)</script>\n",
        "assets/evil.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(23)"/>',
        "references/evil.html": b"<script>alert(24)</script>",
    }


def publish_files(files: dict[str, bytes], *, team: Team, user: User, **more: Any) -> Version:
    """Validates and publishes the files, releases the version if the scan holds it, and returns it."""
    package = read_files(list(files.items()))
    version = publish(package, team=team, actor=Actor(user=user), **more).version
    return _release(version) if version.is_held else version


def _release(version: Version) -> Version:
    """Releases a held version, because pages must be safe even for a hostile skill that was released."""
    reader, _ = User.objects.get_or_create(username="reader", defaults={"is_superuser": True})
    return findings.release(version, Actor(user=reader), reason="A test sample.")
