"""Packages in old formats: those in a design document, and those with METADATA.yml and scripts/main.ts."""

from __future__ import annotations

import re
from pathlib import Path

from registry.packages.package import Package
from registry.packages.read_package import read_files

DOCUMENT = Path("seeds", "002_f883d6171012fdc0.txt")
OLD = """---
# who we are
name: old-one
description: An old one.   # said briefly
version: 1.0.0
type: direct
---
# Old one

## Parameters

- `city` (string, required): The city
- `days` (integer): How many, default 7
- `unit`（string，可选）：温度单位

## Code

```typescript
export async function execute(parameters: Record<string, unknown>) {
  return { output: { city: parameters.city }, format: 'object', status: 'success' };
}
```

Afterwards.
"""
METADATA = """name: another
displayName: Old one!
version: 9.9.9
keywords: [weather, 天气]
inputSchema: {type: object, properties: {city: {type: string}}}
permissions:
  network: [api.example.com]
custom: kept
"""
MAIN = "export async function execute() { return { output: 1, status: 'success' } }\n"


def documented_packages(shared: Path) -> dict[str, str]:
    """The five packages in the design document, by name and protocol."""
    text = (shared / DOCUMENT).read_text()
    whole = re.findall(r"```markdown\n(---\nname: [\w-]+\ndisplayName.*?\n```\n)```", text, re.DOTALL)
    fronts = re.findall(r"```yaml\n(---\nname: .*?\n---\n)```", text, re.DOTALL)
    assert (len(whole), len(fronts)) == (3, 2)
    names = [re.findall("name: (.*)", each)[0] for each in whole]
    return dict(zip([*names, "weather-vcp", "weather-abp"], [*whole, *fronts], strict=True))


def old_package(text: str = OLD, folder: str = "old-one", **files: str) -> Package:
    """The validated package with this SKILL.md and other ``files`` by path."""
    everything = {"SKILL.md": text, **files}
    return read_files([(f"{folder}/{path}", data.encode()) for path, data in everything.items()])
